-- wrk script: POSTs one JSON-RPC request again and again, each with its own id, over the sessions in turn.
-- WRK_CONF names a Lua file that returns { path, headers, prefix, suffix, sessions }.
local conf = dofile(os.getenv("WRK_CONF"))
local id = 1000000000
local parts = {}
local turn = 0

function init(args)
  local sessions = conf.sessions
  if #sessions == 0 then sessions = { false } end
  for i, session in ipairs(sessions) do
    if session then conf.headers["Mcp-Session-Id"] = session end
    local mark = "1000000000"
    local whole = wrk.format("POST", conf.path, conf.headers, conf.prefix .. mark .. conf.suffix)
    local at = #whole - #conf.suffix - #mark
    parts[i] = { whole:sub(1, at), whole:sub(at + #mark + 1) }
  end
end

function request()
  id = id + 1
  turn = turn + 1
  if turn > #parts then turn = 1 end
  return parts[turn][1] .. string.format("%d", id) .. parts[turn][2]
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"calls":%d,"us":%d,"failed":%d,"p50":%g,"p99":%g}\n',
    summary.requests, summary.duration, e.status + e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
