import { Injectable } from '@nestjs/common';
import type { Sandbox } from './sandbox.js';

/** The place that a session takes, from the wish for a sandbox to its end. */
export interface Place {
  sandbox: Sandbox | undefined;
  /** Its agent has begun. */
  begun: boolean;
  /** Given up while it was being started. */
  stopped: boolean;
  /** Resolves when it has begun or failed to. */
  settled: Promise<unknown>;
}

/** All sandboxes of this server: those of sessions, the warm ones, and those that are being made. */
@Injectable()
export class SandboxRegistry {
  /** By session. */
  readonly places = new Map<string, Place>();
  /** By the sandbox's id. */
  readonly sandboxes = new Map<string, Sandbox>();

  add(sandbox: Sandbox): void {
    this.sandboxes.set(sandbox.id, sandbox);
  }

  drop(sandbox: Sandbox): void {
    this.sandboxes.delete(sandbox.id);
    const { session } = sandbox;
    if (session !== null && this.places.get(session)?.sandbox === sandbox) {
      this.places.delete(session);
    }
  }
}
