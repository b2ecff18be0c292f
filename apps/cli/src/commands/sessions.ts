import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { download } from '@belay/client';
import { api, dollarsText, isEnded, isEvent, pluralText, type Event } from '@belay/protocol';
import {
  clientFor,
  clientOf,
  findServer,
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

/** `belay log`: prints a session’s log, and follows it with `--follow`; with `--chain` as it is stored. */
export async function printLog(
  name: string,
  options: PrintOptions & { follow?: boolean; chain?: boolean; hideContents?: boolean },
): Promise<void> {
  if (options.chain) return printStoredLog(name, options);
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

/** For `belay verify`, which needs no server then. */
async function printStoredLog(
  name: string,
  { hideContents, ...where }: Where & { hideContents?: boolean },
): Promise<void> {
  const server = findServer(where);
  const { id } = await findSession(clientOf(server), name);
  const contents = hideContents ? 'hidden' : 'shown';
  const lines = await download(server, api.sessions.storedLog, [id, { contents }]);
  await pipeline(Readable.from(lines), process.stdout, { end: false });
}
