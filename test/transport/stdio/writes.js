/** Loaded into a server before anything else: says on stderr what each write to stdout has. */
const write = process.stdout.write.bind(process.stdout)

process.stdout.write = (text, ...rest) => {
  process.stderr.write(`[write] ${JSON.stringify(text)}\n`)
  return write(text, ...rest)
}
