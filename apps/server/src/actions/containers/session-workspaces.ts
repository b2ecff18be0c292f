import { Injectable } from '@nestjs/common';

/** What actions need to know of a session’s sandbox. */
export interface SessionWorkspace {
  /** The name of its files. */
  files: string;
  /** The joined machine that it is on. */
  machine: string | undefined;
  /** Resolves when the sandbox is gone. */
  gone(): Promise<void>;
}

/**
 * The workspaces of sessions that have a sandbox, by session id; maintained by the code that creates and removes
 * sandboxes.
 */
@Injectable()
export class SessionWorkspaces extends Map<string, SessionWorkspace> {}
