import { isEnded, isFact, type Event } from '@belay/protocol';
import { connect, type Where } from '../connection.js';
import { oneLine, outputTo } from '../output.js';
import { renderEvent } from '../render.js';

/** `belay list`: every session in a line, the newest first. */
export async function listSessions(options: Where & { json?: boolean }): Promise<void> {
  const output = outputTo(process.stdout);
  const { client, live } = connect(options);
  live.close();
  const sessions = await client.sessions.list();
  if (options.json) return output.line(JSON.stringify(sessions));
  if (sessions.length === 0) return output.line('No sessions yet. Start one: belay run "TASK"');
  for (const { id, state, steps, dollars, title, current } of sessions) {
    const figures = `${String(steps).padStart(4)} steps  $${dollars.toFixed(2)}`;
    const what = oneLine(current ? `${title} — ${current}` : title, 80);
    output.line(`${id}  ${state.padEnd(8)}  ${figures}  ${what}`);
  }
}

/** `belay stop`: ends a session; its log, files and history stay. */
export async function stopSession(id: string, options: Where): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  await client.sessions.stop(id);
  outputTo(process.stderr).line(`Stopped ${id}.`);
}

/** `belay log`: prints a session's log, and follows it with `--follow`. */
export async function printLog(
  id: string,
  options: Where & { json?: boolean; follow?: boolean },
): Promise<void> {
  const output = outputTo(process.stdout);
  const { client, live } = connect(options);
  try {
    const { lastSeq, state } = await client.sessions.get(id);
    const until = options.follow && !isEnded(state) ? undefined : lastSeq;
    await new Promise<void>((done, failed) => {
      const print = (event: Event) => {
        const text = options.json ? JSON.stringify(event) : renderEvent(event, output);
        if (text !== undefined) output.line(text);
        const end = isFact(event, 'state') && isEnded(event.args.state);
        if (until === undefined ? end : event.seq >= until) done();
      };
      live.watch(id, { events: (events) => events.forEach(print), refused: failed });
    });
  } finally {
    live.close();
  }
}
