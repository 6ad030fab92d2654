/** Answers kept by the exact header value that led to them, within bounds that no sender of odd values can exceed. */

const MAX_ENTRIES = 256
const MAX_LENGTH = 256

/**
 * `compute` with a memory of its last 256 answers; the oldest makes room. Values longer than 256 characters are computed
 * each time, and so are those whose answer is undefined. The value that came last is compared first: most clients send the
 * same ones, and that is cheaper than to hash them.
 */
export function createMemo<Answer>(compute: (value: string) => Answer): (value: string) => Answer {
  const answers = new Map<string, Answer>()
  let last: string | undefined
  let lastAnswer: Answer | undefined
  const keep = (value: string, answer: Answer): void => {
    if (answers.size >= MAX_ENTRIES) {
      for (const oldest of answers.keys()) {
        answers.delete(oldest)
        break
      }
    }
    answers.set(value, answer)
  }
  return (value) => {
    if (value === last && lastAnswer !== undefined) return lastAnswer
    const known = answers.get(value)
    const answer = known ?? compute(value)
    if (answer === undefined || value.length > MAX_LENGTH) return answer
    if (known === undefined) keep(value, answer)
    last = value
    lastAnswer = answer
    return answer
  }
}
