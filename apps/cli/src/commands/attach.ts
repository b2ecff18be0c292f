import { isEnded, visibleText } from '@belay/protocol';
import { findSession, openConnection, type PrintOptions } from '../connection.js';
import { followRun } from '../follow-run.js';
import { conclude, exitCodeOf, exitCodes } from '../outcome.js';
import { outputTo } from '../output.js';
import { SessionScreen } from '../screen/session-screen.js';
import { terminalUser } from '../terminal-user.js';

export interface AttachOptions extends PrintOptions {
  /** Prints the transcript, even at a terminal. */
  plain?: boolean;
}

/**
 * `belay attach`: shows a session on the whole terminal. Without a terminal, or with `--plain`, it prints the session
 * so far, follows it, and asks its questions. Returns the exit code.
 */
export async function attach(
  name: string,
  options: AttachOptions,
  /** Sent first; only later events are printed then. */
  message?: { text: string; delivery: 'queue' | 'next' | 'steer' },
): Promise<number> {
  const progress = outputTo(process.stderr);
  const { client, live, url } = openConnection(options);
  try {
    const joined = await findSession(client, name);
    const { id } = joined;
    if (!message && !options.json && !options.plain && isScreen()) {
      const { stdin: input, stdout: output } = process;
      const last = await new SessionScreen({ summary: joined, client, live, input, output }).show();
      if (isEnded(last.state)) return exitCodeOf(last);
      const title = visibleText(last.title);
      progress.line(`“${title}” is still running. Come back with: belay attach ${id}`);
      return exitCodes.interrupted;
    }
    if (message) await client.sessions.message(id, message);
    const format = options.json ? 'json' : 'words';
    const outcome = await followRun({
      id,
      client,
      live,
      joined,
      after: message ? joined.lastSeq : 0,
      format,
      progress,
      user: isEnded(joined.state) && !message ? undefined : terminalUser(process.stdin, progress),
      interrupt: 'leave',
    });
    return await conclude(outcome, { id, client, url, progress, format });
  } finally {
    live.close();
  }
}

/** Whether input and output are a terminal that can position the cursor. */
const isScreen = (): boolean =>
  Boolean(process.stdin.isTTY && process.stdout.isTTY) && process.env.TERM !== 'dumb';
