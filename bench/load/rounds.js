// Rounds over several lanes in turn, so that a noisy minute of the machine meets all of them.

/**
 * What one round of one lane measured.
 * @typedef {object} Sample
 * @property {number} callsPerSecond
 * @property {number} cpuUs CPU time per call of the process that is measured
 * @property {number} [p50Ms]
 * @property {number} [p99Ms]
 */

/**
 * One adapter under one load.
 * @typedef {object} Lane
 * @property {string} id of the adapter
 * @property {(seconds: number) => Promise<Sample>} run
 * @property {() => Promise<void>} check throws unless the adapter answers rightly
 * @property {(signal?: "SIGTERM") => Promise<void>} stop ends the process; `SIGTERM` lets it end by itself
 */

/**
 * Runs every lane once a round; each round begins with another lane. Warm-up rounds are not recorded. A lane that fails is
 * left out from then on.
 * @param {readonly Lane[]} lanes
 * @returns {Promise<{ samples: Map<string, Sample[]>, failures: Map<string, string> }>}
 */
export async function playRounds(lanes, { rounds, seconds, warmUps = 1, warmUpSeconds = seconds }) {
  const samples = new Map(lanes.map(({ id }) => [id, []]))
  const failures = new Map()
  const attempt = async (lane, work) => {
    try {
      await work()
    } catch (error) {
      failures.set(lane.id, error.message)
      samples.delete(lane.id)
    }
  }
  for (let round = -warmUps; round < rounds; round++) {
    for (let turn = 0; turn < lanes.length; turn++) {
      const lane = lanes[(turn + Math.max(round, 0)) % lanes.length]
      if (failures.has(lane.id)) continue
      await attempt(lane, async () => {
        const sample = await lane.run(round < 0 ? warmUpSeconds : seconds)
        if (round >= 0) samples.get(lane.id).push(sample)
      })
    }
  }
  for (const lane of lanes) if (!failures.has(lane.id)) await attempt(lane, lane.check)
  return { samples, failures }
}

/** Opens a lane for each adapter, in a process each; those that cannot are reported and left out. */
export async function openApart(adapters, open, log) {
  const lanes = []
  for (const adapter of adapters) {
    try {
      lanes.push(...(await open([adapter])))
    } catch (error) {
      log(`${adapter.id} is left out: ${error.message}`)
    }
  }
  return lanes
}
