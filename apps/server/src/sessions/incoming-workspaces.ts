import { Injectable } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { TarSource } from '../sandboxes/connection/agent-calls.js';

/** How long a started sandbox waits for its workspace, which clients send right after they create the session. */
const sentWithinMs = 60_000;
/** How long a sent workspace waits for its session to start; after that it is stored on disk. */
const takenWithinMs = 3_000;

interface Incoming {
  readonly tar: PromiseWithResolvers<TarSource>;
  /** Resolved when the session’s sandbox starts and will take the workspace. */
  readonly taken: PromiseWithResolvers<true>;
  readonly unpacked: PromiseWithResolvers<void>;
  source: TarSource | undefined;
}

/**
 * Workspaces that are sent to a session while it starts: streamed from the request into the sandbox, without a copy.
 */
@Injectable()
export class IncomingWorkspaces {
  readonly #incoming = new Map<string, Incoming>();

  /** Allows the session’s workspace to be sent from now on. Does nothing while it is. */
  expect(session: string): void {
    if (this.#incoming.has(session)) return;
    const incoming: Incoming = {
      tar: Promise.withResolvers(),
      taken: Promise.withResolvers(),
      unpacked: Promise.withResolvers(),
      source: undefined,
    };
    for (const { promise } of [incoming.tar, incoming.unpacked])
      promise.catch(ignoreError('who takes it receives it'));
    this.#incoming.set(session, incoming);
  }

  /** Called once there is capacity for the session’s sandbox. */
  begin(session: string): void {
    this.#incoming.get(session)?.taken.resolve(true);
  }

  /**
   * Passes an archive to the sandbox. Resolves when it is unpacked there, or stored by `keep` if there is no sandbox
   * yet. Rejects with the reason why the session could not start, and with `conflict` when none is expected.
   */
  async send(session: string, source: TarSource, keep: () => Promise<void>): Promise<void> {
    const incoming = this.#incoming.get(session);
    if (!incoming || incoming.source) {
      throw new AppError(
        'conflict',
        'This session is not waiting for a workspace. Start a new one.',
      );
    }
    incoming.source = source;
    const ended = incoming.unpacked.promise.then(() => true);
    const taken = Promise.race([incoming.taken.promise, ended]);
    const isTaken = await inTime(taken, takenWithinMs, () => false);
    if (isTaken) {
      incoming.tar.resolve(source);
      return incoming.unpacked.promise;
    }
    // A sandbox that asks for the workspace meanwhile waits for the copy.
    const kept = keep().finally(() => this.#incoming.delete(session));
    incoming.tar.reject(new KeptWorkspace(kept));
    await kept;
  }

  /**
   * The archive for a session’s sandbox, once it arrives. Rejects with `KeptWorkspace` when it is on disk, and with
   * `not_found` when it does not arrive.
   */
  async take(session: string): Promise<TarSource> {
    const incoming = this.#incoming.get(session);
    if (!incoming) throw notSent();
    return inTime(incoming.tar.promise, sentWithinMs, () => {
      throw notSent();
    });
  }

  /** Reports to the sender how the session’s start went. After an error, no more of the archive is read. */
  end(session: string, error?: AppError): void {
    const incoming = this.#incoming.get(session);
    this.#incoming.delete(session);
    if (!error) return incoming?.unpacked.resolve();
    incoming?.tar.reject(error);
    incoming?.unpacked.reject(error);
    incoming?.source?.tar.destroy(error);
  }
}

/** The workspace is no longer streamed; it is on disk once `kept` resolves. */
export class KeptWorkspace extends Error {
  constructor(readonly kept: Promise<void>) {
    super('The workspace is on disk.');
  }
}

const notSent = (): AppError =>
  new AppError('not_found', 'Its files were not sent here. Begin a new session with them.');
