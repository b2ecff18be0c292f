import { Injectable } from '@nestjs/common';
import { AppError, clonedWorkspace, type newSession, type SessionSettings } from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { ClonedWorkspaces } from './cloned-workspaces.js';
import { newArchiveId, WorkspaceStore } from './workspace.store.js';

/** What the files of a session begin with. */
export type BeginningFiles = Pick<SessionSettings, 'workspace' | 'repository'>;

/** What the files of new sessions begin with. */
@Injectable()
export class NewWorkspaces {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly clones: ClonedWorkspaces,
  ) {}

  /** Checks what was asked for, so that no session begins that cannot be filled: a git host is asked. */
  async of(
    session: string,
    wanted: z.output<typeof newSession>,
    caller: Caller,
  ): Promise<BeginningFiles> {
    const found = await this.#find(wanted, caller);
    if (found.repository) this.clones.begunBy(session, caller);
    return found;
  }

  /** As `of`, for sessions that begin with the same: a repository is cloned once for all of them. */
  async forSeveral(
    wanted: Pick<z.output<typeof newSession>, 'workspace' | 'repository'>,
    caller: Caller,
  ): Promise<BeginningFiles> {
    const found = await this.#find(wanted, caller);
    return found.repository ? { ...found, workspace: newArchiveId() } : found;
  }

  /** One of those sessions is about to begin. */
  shared(session: string, files: BeginningFiles, caller: Caller): BeginningFiles {
    if (files.repository) this.clones.begunBy(session, caller);
    return files;
  }

  async #find(
    { workspace, repository }: Pick<z.output<typeof newSession>, 'workspace' | 'repository'>,
    caller: Caller,
  ): Promise<BeginningFiles> {
    await this.workspaces.check(workspace);
    const isCloned = workspace === clonedWorkspace;
    if (!repository) {
      if (!isCloned) return { workspace, repository: undefined };
      throw new AppError('invalid_input', 'Name the repository to clone as `repository`.');
    }
    if (workspace !== null && !isCloned)
      throw new AppError('invalid_input', 'Name either a workspace or a repository, not both.');
    const found = await this.clones.find(repository, caller);
    return { workspace: clonedWorkspace, repository: found };
  }
}
