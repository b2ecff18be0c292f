import { isEnded, isEvent, dollarsText, type Event } from '@belay/protocol';
import { connect, findSession, type Where } from '../connection.js';
import { oneLine, outputTo } from '../output.js';
import { Transcript } from '../transcript.js';

/** `belay list`: one line per session, newest first. */
export async function listSessions(
  options: Where & { json?: boolean; all?: boolean },
): Promise<void> {
  const output = outputTo(process.stdout);
  const { client, live } = connect(options);
  live.close();
  const all = await client.sessions.list();
  const sessions = options.all ? all : all.filter((session) => !session.archived);
  if (options.json) return output.json(sessions);
  if (sessions.length === 0) return output.line('No sessions yet. Start one: belay run "TASK"');
  for (const { id, state, steps, dollars, title, current, waitingFor } of sessions) {
    const [waits] = waitingFor;
    const doing = waits ? `waits for approval: ${waits.operation} ${waits.subject}` : current;
    const begin = `${id}  ${state.padEnd(8)}  ${String(steps).padStart(4)} steps  ${dollarsText(dollars)}  `;
    output.line(
      begin + oneLine(doing ? `${title} — ${doing}` : title, output.width - begin.length),
    );
  }
}

/** `belay stop`: ends a session; its log, files and history are kept. */
export async function stopSession(name: string, options: Where): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  const { id, state } = await findSession(client, name);
  const progress = outputTo(process.stderr);
  if (isEnded(state)) return progress.line(`${id} has already ended: ${state}.`);
  await client.sessions.stop(id);
  progress.line(`Stopped ${id}.`);
}

/** `belay log`: prints a session’s log, and follows it with `--follow`. */
export async function printLog(
  name: string,
  options: Where & { json?: boolean; follow?: boolean },
): Promise<void> {
  const output = outputTo(process.stdout);
  const transcript = new Transcript(output);
  const { client, live } = connect(options);
  try {
    const { id, lastSeq, state } = await findSession(client, name);
    const until = options.follow && !isEnded(state) ? undefined : lastSeq;
    await new Promise<void>((done, failed) => {
      const print = (event: Event) => {
        if (options.json) output.json(event);
        else transcript.see(event);
        const end = isEvent(event, 'state') && isEnded(event.args.state);
        if (until === undefined ? end : event.seq >= until) done();
      };
      process.stdout.once('error', () => done()); // The reader of the pipe has exited.
      live.watch(id, { events: (events) => events.forEach(print), refused: failed });
    });
  } finally {
    live.close();
  }
}
