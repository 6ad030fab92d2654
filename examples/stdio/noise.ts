/** A module that prints while it is loaded and while it works, as many libraries do. */
console.log("noise: loaded")

export function add(a: number, b: number): number {
  console.log(`noise: adding ${a} and ${b}`)
  return a + b
}
