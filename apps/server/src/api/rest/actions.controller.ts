import { Req } from '@nestjs/common';
import {
  api,
  manifestSchema,
  type ActionInstall,
  type FoundActions,
  type InstalledAction,
} from '@belay/protocol';
import type { Request } from 'express';
import { fileLimits } from '../../actions/action-files.js';
import { ActionInstaller } from '../../actions/action-installer.js';
import { ActionInstalls } from '../../actions/action-installs.js';
import { ActionSources } from '../../actions/action-sources.js';
import { ActionStore } from '../../actions/action.store.js';
import { InstalledActions } from '../../actions/installed-actions.js';
import { InstalledServers } from '../../actions/installed-servers.js';
import { shownAction } from '../../actions/shown-action.js';
import { callerOf } from '../auth/access.guard.js';
import { readWithin } from '../read-within.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.actions>;

/** Allows for the headers in an archive of many small files. */
const maxArchiveBytes = fileLimits.bytes + 16 * 2 ** 20;

/** Installs, configures and lists actions. Secrets are write-only. */
@RestController(api.actions)
export class ActionsController {
  constructor(
    private readonly installed: InstalledActions,
    private readonly store: ActionStore,
    private readonly sources: ActionSources,
    private readonly installer: ActionInstaller,
    private readonly installs: ActionInstalls,
    private readonly servers: InstalledServers,
  ) {}

  list(_: unknown, @Req() request: Request): InstalledAction[] {
    const caller = callerOf(request);
    return this.installed.list().map((action) => shownAction(caller, action));
  }

  read({ params }: Inputs['read'], @Req() request: Request): InstalledAction {
    return shownAction(callerOf(request), this.installed.known(params.name));
  }

  find({ body }: Inputs['find'], @Req() request: Request): Promise<FoundActions> {
    return this.sources.find(body.from, body.version, untilClosed(request));
  }

  findExamples(): Promise<FoundActions> {
    return this.sources.findExamples();
  }

  async upload({ query }: Inputs['upload'], @Req() request: Request): Promise<FoundActions> {
    return this.sources.upload(await readWithin(request, maxArchiveBytes), query.from);
  }

  install({ body }: Inputs['install']): ActionInstall {
    return this.installs.begin(this.sources.take(body.found, body.names));
  }

  progress({ params, query }: Inputs['progress'], @Req() request: Request): Promise<ActionInstall> {
    const waiting = { waitMs: 1_000 * query.wait, signal: untilClosed(request) };
    return this.installs.progress(params.id, query.after, waiting);
  }

  cancel({ params }: Inputs['cancel']): void {
    this.installs.cancel(params.id);
  }

  change({ params, body }: Inputs['change']): Promise<InstalledAction> {
    return this.installer.enable(params.name, body.enabled);
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.installer.remove(params.name);
  }

  async setSecret({ params, body }: Inputs['setSecret']): Promise<InstalledAction> {
    this.installed.assertDeclares(params.name, params.key);
    await this.store.setSecret(params.name, params.key, body.value);
    await this.servers.refresh(params.name);
    return this.installed.known(params.name);
  }

  async removeSecret({ params }: Inputs['removeSecret']): Promise<void> {
    await this.store.setSecret(params.name, params.key, null);
    await this.servers.refresh(params.name);
  }

  schema(): Record<string, unknown> {
    return manifestSchema();
  }
}

function untilClosed(request: Request): AbortSignal {
  const closed = new AbortController();
  request.res?.once('close', () => closed.abort());
  return closed.signal;
}
