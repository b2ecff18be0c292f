import { dollarsText, isEnded, isEvent, pluralText, type Event } from '@belay/protocol';
import {
  clientFor,
  findSession,
  openConnection,
  type PrintOptions,
  type Where,
} from '../connection.js';
import { outputTo } from '../output.js';
import { Transcript } from '../transcript.js';
import { printList } from '../print-list.js';

/** `belay list`: one line per session, newest first. */
export async function listSessions(options: PrintOptions & { all?: boolean }): Promise<void> {
  const all = await clientFor(options).sessions.list();
  const sessions = options.all ? all : all.filter((session) => !session.archived);
  printList(sessions, options, {
    empty: 'No sessions yet. Start one: belay run "TASK"',
    numbers: [2, 3],
    row: ({ id, state, steps, dollars, title, current, waitingFor: [waits] }) => {
      const doing = waits ? `waits for approval: ${waits.operation} ${waits.subject}` : current;
      const what = doing ? `${title} — ${doing}` : title;
      return [id, state, pluralText(steps, 'step'), dollarsText(dollars), what];
    },
  });
}

/** `belay stop`: ends a session; its log, files and history are kept. */
export async function stopSession(name: string, options: Where): Promise<void> {
  const client = clientFor(options);
  const { id, state } = await findSession(client, name);
  const progress = outputTo(process.stderr);
  if (isEnded(state)) return progress.line(`${id} has already ended: ${state}.`);
  await client.sessions.stop(id);
  progress.line(`Stopped ${id}.`);
}

/** `belay log`: prints a session’s log, and follows it with `--follow`. */
export async function printLog(
  name: string,
  options: PrintOptions & { follow?: boolean },
): Promise<void> {
  const output = outputTo(process.stdout);
  const transcript = new Transcript(output);
  const { client, live } = openConnection(options);
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
