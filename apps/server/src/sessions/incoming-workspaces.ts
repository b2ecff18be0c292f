import { Injectable } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { TarSource } from '../sandboxes/connection/agent-calls.js';

/** How long a sandbox that has started waits for its workspace, which is sent right after the session was made. */
const sentWithinMs = 60_000;
/** How long a workspace waits until its session’s turn comes to start; after that it is kept on disk. */
const takenWithinMs = 3_000;

interface Incoming {
  readonly tar: PromiseWithResolvers<TarSource>;
  /** Its sandbox is starting, and will take it. */
  readonly taken: PromiseWithResolvers<true>;
  readonly unpacked: PromiseWithResolvers<void>;
  source: TarSource | undefined;
}

/** Workspaces that are sent to a session while it starts: from the request into the sandbox, without a copy. */
@Injectable()
export class IncomingWorkspaces {
  readonly #incoming = new Map<string, Incoming>();

  /** From now on the session’s workspace may be sent. */
  expect(session: string): void {
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

  /** The session has the capacity for a sandbox. */
  begin(session: string): void {
    this.#incoming.get(session)?.taken.resolve(true);
  }

  /**
   * Passes an archive to the sandbox; resolves when it is unpacked there, or kept by `keep` because there is no sandbox
   * yet. Rejects with why the session could not start, and with `conflict` when none is expected.
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
    // Whoever takes it meanwhile waits for the copy.
    const kept = keep().finally(() => this.#incoming.delete(session));
    incoming.tar.reject(new KeptWorkspace(kept));
    await kept;
  }

  /**
   * The archive for a session’s sandbox, once it comes. Rejects with `KeptWorkspace` when it is on disk, and with
   * `not_found` when it does not come.
   */
  async take(session: string): Promise<TarSource> {
    const incoming = this.#incoming.get(session);
    if (!incoming) throw notSent();
    return inTime(incoming.tar.promise, sentWithinMs, () => {
      throw notSent();
    });
  }

  /** Tells the sender how the session’s start went. With an error nothing more is taken, wherever it goes. */
  end(session: string, error?: AppError): void {
    const incoming = this.#incoming.get(session);
    this.#incoming.delete(session);
    if (!error) return incoming?.unpacked.resolve();
    incoming?.tar.reject(error);
    incoming?.unpacked.reject(error);
    incoming?.source?.tar.destroy(error);
  }
}

/** It is no longer on its way, but on disk once `kept` resolves. */
export class KeptWorkspace extends Error {
  constructor(readonly kept: Promise<void>) {
    super('The workspace is on disk.');
  }
}

const notSent = (): AppError =>
  new AppError('not_found', 'Its files were not sent here. Begin a new session with them.');
