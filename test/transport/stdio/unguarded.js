/** A server without the guard, next to a module that prints while it is imported. */
import "./noisy.js"
import "./server.js"
