/** Made-up weather stations: the same answer for the same place, without a network. */

/** One weather station. */
export interface Station {
  readonly city: string
  readonly country: string
  readonly region: "africa" | "americas" | "asia" | "europe" | "oceania"
  readonly latitude: number
  readonly longitude: number
}

/** What a station reports. */
export interface Forecast {
  readonly celsius: number
  readonly sky: Sky
}

/** The skies that a station can see. */
export const skies = ["clear", "cloudy", "rain", "snow"] as const
export type Sky = (typeof skies)[number]

const at = (
  city: string,
  country: string,
  region: Station["region"],
  latitude: number,
  longitude: number,
): Station => ({ city, country, region, latitude, longitude })

/** All stations, by the alphabet. */
export const stations: readonly Station[] = [
  at("Auckland", "New Zealand", "oceania", -36.8, 174.8),
  at("Bergen", "Norway", "europe", 60.4, 5.3),
  at("Berlin", "Germany", "europe", 52.5, 13.4),
  at("Cairo", "Egypt", "africa", 30.0, 31.2),
  at("Cape Town", "South Africa", "africa", -33.9, 18.4),
  at("Lima", "Peru", "americas", -12.0, -77.0),
  at("Lisbon", "Portugal", "europe", 38.7, -9.1),
  at("London", "United Kingdom", "europe", 51.5, -0.1),
  at("Montreal", "Canada", "americas", 45.5, -73.6),
  at("Mumbai", "India", "asia", 19.1, 72.9),
  at("Nairobi", "Kenya", "africa", -1.3, 36.8),
  at("New York", "United States", "americas", 40.7, -74.0),
  at("Osaka", "Japan", "asia", 34.7, 135.5),
  at("Oslo", "Norway", "europe", 59.9, 10.8),
  at("Paris", "France", "europe", 48.9, 2.4),
  at("Reykjavík", "Iceland", "europe", 64.1, -21.9),
  at("São Paulo", "Brazil", "americas", -23.6, -46.6),
  at("Singapore", "Singapore", "asia", 1.4, 103.8),
  at("Sydney", "Australia", "oceania", -33.9, 151.2),
  at("Tokyo", "Japan", "asia", 35.7, 139.7),
]

/** The station of a city, whatever the case of its name. */
export function findStation(city: string): Station | undefined {
  const wanted = city.trim().toLowerCase()
  return stations.find((station) => station.city.toLowerCase() === wanted)
}

/** The cities whose name starts with what somebody has typed so far. */
export function citiesLike(typed: string): readonly string[] {
  const wanted = typed.trim().toLowerCase()
  return stations.map((station) => station.city).filter((city) => city.toLowerCase().startsWith(wanted))
}

/** What a station reports: warm near the equator, and a sky that depends on the name alone. */
export function report(station: Station): Forecast {
  const seed = [...station.city].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0)
  const celsius = Math.round(30 - Math.abs(station.latitude) / 2 + (seed % 7) - 3)
  const sky = skies[celsius < 2 ? 3 : seed % 3] ?? "clear"
  return { celsius, sky }
}
