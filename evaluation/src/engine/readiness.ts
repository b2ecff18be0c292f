import { shellQuoted } from '@belay/protocol';
import type { Healthcheck } from '../model.js';

export interface Readiness {
  /** The image's entrypoint, which runs in the background. */
  entrypoint?: string[];
  /** A script in the working folder that is run if it exists. */
  setup?: string;
  /** Checked before the setup; `after` is checked after it. */
  before?: Healthcheck;
  after?: Healthcheck;
}

/** The exit code of a container whose command did not start because a requirement was not ready. */
export const notReady = 113;

/**
 * Wraps the command so that it starts once the container is ready. The image needs a shell, and
 * `timeout` for healthchecks.
 */
export function whenReady(
  command: string[],
  { entrypoint, setup, before, after }: Readiness,
): string[] {
  const lines = [
    ...(entrypoint?.length
      ? [
          `${entrypoint.map(shellQuoted).join(' ')} sh -c 'sleep infinity' </dev/null >/dev/null 2>&1 &`,
        ]
      : []),
    ...(before ? [waitFor(before)] : []),
    ...(setup
      ? [
          `[ ! -f ${shellQuoted(setup)} ] || bash ${shellQuoted(setup)} || ${giveUp(`${setup} failed.`)}`,
        ]
      : []),
    ...(after ? [waitFor(after)] : []),
  ];
  return lines.length === 0
    ? command
    : ['sh', '-c', [...lines, 'exec "$@"'].join('\n'), 'ready', ...command];
}

function waitFor({ command, interval, timeout, startPeriod, startInterval, retries }: Healthcheck) {
  const failure = giveUp(`The healthcheck failed ${retries} times: ${command}`);
  return [
    'began=$(date +%s); failures=0',
    `until timeout ${timeout} sh -c ${shellQuoted(command)} >/dev/null 2>&1; do`,
    `  if [ $(($(date +%s) - began)) -lt ${Math.ceil(startPeriod)} ]; then sleep ${startInterval}; continue; fi`,
    `  failures=$((failures + 1)); [ $failures -lt ${retries} ] || ${failure}`,
    `  sleep ${interval}`,
    'done',
  ].join('\n');
}

const giveUp = (why: string) => `{ echo ${shellQuoted(why)} >&2; exit ${notReady}; }`;
