/**
 * Ends this process with a code, as another program in its place: `process.exit` may wait for ever while functions are
 * still compiled, which they are at the start (nodejs/node#54918). What is not written yet is lost.
 */
export function endWithCode(code: number): never {
  // Where there is none, such as on Windows.
  process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`]);
  process.exit(code);
}
