/** Runs the story: `node examples/dist/mount/main.js`. `PORT` chooses the port; the default is 3000. */
import { createApp } from "./server.js"

const port = Number(process.env["PORT"] ?? 3000)
const app = createApp()
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => app.close())
app.listen(port, "127.0.0.1", () => console.log(`mount: http://127.0.0.1:${port}/mcp`))
