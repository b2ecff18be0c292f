import { Injectable } from '@nestjs/common';
import { AppError, clonedWorkspace, type newSession, type SessionSettings } from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { ClonedWorkspaces } from './cloned-workspaces.js';
import { newArchiveId, WorkspaceStore } from './workspace.store.js';

/** The source of a session’s initial files. */
export type BeginningFiles = Pick<SessionSettings, 'workspace' | 'repository'>;

/** Determines the initial files of new sessions. */
@Injectable()
export class NewWorkspaces {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly clones: ClonedWorkspaces,
  ) {}

  /**
   * Checks the requested source, including the git host, so that a session without obtainable files is never created.
   */
  async of(
    { workspace, repository }: Pick<z.output<typeof newSession>, 'workspace' | 'repository'>,
    caller: Caller,
  ): Promise<BeginningFiles> {
    await this.workspaces.choose(workspace, caller);
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

  /** Like `of`, for several sessions with the same source: a repository is cloned once for all of them. */
  async forSeveral(
    wanted: Pick<z.output<typeof newSession>, 'workspace' | 'repository'>,
    caller: Caller,
  ): Promise<BeginningFiles> {
    const found = await this.of(wanted, caller);
    return found.repository ? { ...found, workspace: newArchiveId() } : found;
  }
}
