/** Serves `page.html` of the workspace at port 8081 of the sandbox, and prints `serving`. */
export const serveInside = `/opt/belay/node -e '
require("node:http").createServer((_, answer) => {
  answer.setHeader("content-type", "text/html");
  answer.end(require("node:fs").readFileSync("page.html"));
}).listen(8081, "127.0.0.1", () => console.log("serving"))'`;
