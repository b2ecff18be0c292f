import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@belay/protocol';
import { whileTransferring } from '@belay/rpc';
import { ownProgram } from '../find-program.js';
import { asUser } from '../user-separation.js';
import { CheckedTar } from './checked-tar.js';

/**
 * Unpacks a tar archive into the workspace with a native tar: files with mode and time, folders, links of both kinds.
 * Links are kept unchanged and never written through; an entry that leads out, or is a device or a pipe, fails the
 * import. No other program may write to the workspace meanwhile. Rejects with `AppError` (`invalid_input`,
 * `forbidden`, `disk_full`, …); already unpacked files stay.
 */
export async function importWorkspace(workspace: string, tar: Readable): Promise<void> {
  const binary = ownProgram('tar');
  if (binary === undefined)
    throw new AppError(
      'unavailable',
      'The archive cannot be unpacked: the program tar was not found.',
    );
  const { file, args } = asUser(binary, [...flags, '-C', workspace]);
  const child = spawn(file, args, { env: { LC_ALL: 'C' }, stdio: ['pipe', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < 4_000) errors += text;
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(failure(errors))));
  });
  const sent = whileTransferring(() => pipeline(tar, new CheckedTar(), child.stdin));
  const [fromSending, fromTar] = await Promise.allSettled([
    sent.catch((error: Error) => {
      // If tar has ended, its exit tells why: Node closes its input then, whatever remained to be sent.
      if (!(error instanceof AppError) && (isBrokenPipe(error) || hasEnded(child))) return;
      child.kill('SIGKILL');
      throw error;
    }),
    ended,
  ]);
  const [failed] = [fromSending, fromTar].filter(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') return;
  const error = failed.reason as Error;
  throw error instanceof AppError ? error : cannotUnpack(error.message);
}

/**
 * Folder modes are set last, because a read-only folder could not be filled. Names are used unchanged, because they
 * are checked; otherwise tar would delay links that lead out, and then replace a file of the same name.
 */
const flags = [
  '--extract',
  '--absolute-names',
  '--preserve-permissions',
  '--no-same-owner',
  '--numeric-owner',
  '--delay-directory-restore',
  '--read-full-records',
  '--blocking-factor=512',
];

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
const isBrokenPipe = (error: Error): boolean => (error as NodeJS.ErrnoException).code === 'EPIPE';

function failure(errors: string): AppError {
  if (/No space left on device|Disk quota exceeded/.test(errors))
    return new AppError('disk_full', 'The disk is full: the workspace could not be unpacked.');
  // The first line is the cause; the last only says that there was an error.
  return cannotUnpack(errors.split('\n', 1)[0] || 'tar was killed');
}

const cannotUnpack = (why: string): AppError =>
  new AppError('invalid_input', `The archive cannot be unpacked: ${why}`);
