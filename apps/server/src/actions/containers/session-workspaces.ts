import { Injectable } from '@nestjs/common';
import type { SandboxVolumes } from '@belay/docker';

/** What actions use of the sandbox of a session. */
export interface SessionWorkspace {
  /** The joined machine that it is on. */
  machine: string | undefined;
  /** The container’s id; empty while there is none. */
  container: string;
  volumes: SandboxVolumes;
  /** Resolves when the sandbox is gone. */
  gone(): Promise<void>;
}

/** The workspace of each session that has a sandbox, by the session’s id; whoever makes and removes sandboxes keeps it. */
@Injectable()
export class SessionWorkspaces extends Map<string, SessionWorkspace> {}
