import { processStat, processFile, type ProcessStat } from './background/process-start.js';

const pollMs = 500;
/** npm, its shell, and the shell that looks for Node. */
const mostAncestors = 4;

/**
 * `kill -9` of `npx belay …` ends only npm, which cannot pass on that signal. This ends the process once the npm that
 * started it is gone. Does nothing without /proc.
 */
export function endWithNpm(end = () => process.kill(process.pid, 'SIGKILL')): void {
  const npm = npmAbove(process.pid);
  if (!npm) return;
  setInterval(() => {
    if (processStat(npm.pid)?.start !== npm.start) end();
  }, pollMs).unref();
}

function npmAbove(pid: number): ProcessStat | undefined {
  let stat = processStat(pid);
  for (let level = 0; level < mostAncestors && stat && stat.parent > 1; level += 1) {
    stat = processStat(stat.parent);
    if (stat && isNpm(processFile(`/proc/${stat.pid}/cmdline`) ?? '')) return stat;
  }
  return undefined;
}

/** npm names its process after its command. */
const isNpm = (line: string): boolean => /^(npm|npx) |\/np[mx]-cli\.js\0/.test(line);
