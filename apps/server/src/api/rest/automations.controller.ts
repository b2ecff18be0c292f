import { Req, Res } from '@nestjs/common';
import {
  api,
  automationSchema,
  type AutomationInfo,
  type AutomationJob,
  type AutomationLane,
  type AutomationRun,
  type AutomationVersion,
  type DefinitionReport,
  type DeliveryRow,
  type ForgeSourceInfo,
  type RouteResult,
  type RunExplanation,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { AutomationChanges } from '../../automations/automation-changes.js';
import { AutomationViews } from '../../automations/automation-views.js';
import { AutomationsStore } from '../../automations/definitions/automations.store.js';
import { definitionYaml } from '../../automations/definitions/definition-yaml.js';
import { ForgeSources } from '../../automations/forges/forge-sources.js';
import { automationJobs } from '../../automations/jobs/automation-jobs.js';
import { Deliveries } from '../../automations/triggers/deliveries.js';
import { callerOf, noteMade } from '../auth/access.guard.js';
import { PublicUrl } from '../public-url.js';
import { linkNext } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.automations>;
type ForgeSourceRow = Awaited<ReturnType<ForgeSources['list']>>[number];

/** Automations, which whoever sees all sessions may read, and admins may change. */
@RestController(api.automations)
export class AutomationsController {
  constructor(
    private readonly automations: AutomationsStore,
    private readonly views: AutomationViews,
    private readonly changes: AutomationChanges,
    private readonly followed: ForgeSources,
    private readonly learned: Deliveries,
    private readonly publicUrl: PublicUrl,
  ) {}

  list(): Promise<AutomationInfo[]> {
    return this.views.list();
  }

  async add({ body }: Inputs['add'], @Req() request: Request): Promise<AutomationInfo> {
    const added = await this.changes.add(body, callerOf(request));
    noteMade({ subject: versionText(added) }, request);
    return this.views.info(added);
  }

  check({ body }: Inputs['check'], @Req() request: Request): Promise<DefinitionReport> {
    return this.changes.check(body, callerOf(request));
  }

  schema(): Record<string, unknown> {
    return automationSchema();
  }

  jobs(): AutomationJob[] {
    return automationJobs();
  }

  async sources(): Promise<ForgeSourceInfo[]> {
    return (await this.followed.list()).map((source) => this.#shown(source));
  }

  async connect(
    { body }: Inputs['connect'],
    @Req() request: Request,
  ): Promise<RouteResult<typeof api.automations.connect>> {
    noteMade({ subject: connectionText(body) }, request);
    const { source, secret } = await this.changes.connect(body, callerOf(request));
    return { ...this.#shown(source), secret };
  }

  async disconnect({ params }: Inputs['disconnect'], @Req() request: Request): Promise<void> {
    const { host, repository } = await this.changes.disconnect(params.id, callerOf(request));
    noteMade({ subject: `${host}/${repository}` }, request);
  }

  async get({ params }: Inputs['get']): Promise<AutomationInfo> {
    return this.views.info(await this.automations.require(params.name));
  }

  async text({ params }: Inputs['text'], @Res() response: Response): Promise<void> {
    const { definition } = await this.automations.require(params.name);
    response.type('application/yaml').send(definitionYaml(definition));
  }

  async edit({ params, body }: Inputs['edit'], @Req() request: Request): Promise<AutomationInfo> {
    const edited = await this.changes.edit(params.name, body, callerOf(request));
    noteMade({ subject: versionText(edited) }, request);
    return this.views.info(edited);
  }

  remove({ params }: Inputs['remove'], @Req() request: Request): Promise<void> {
    return this.changes.remove(params.name, callerOf(request));
  }

  async pause({ params }: Inputs['pause'], @Req() request: Request): Promise<AutomationInfo> {
    return this.views.info(await this.changes.pause(params.name, callerOf(request)));
  }

  async resume({ params }: Inputs['resume'], @Req() request: Request): Promise<AutomationInfo> {
    return this.views.info(await this.changes.resume(params.name, callerOf(request)));
  }

  async run({ params, body }: Inputs['run'], @Req() request: Request): Promise<RunExplanation> {
    const begun = await this.changes.begin(params.name, body, callerOf(request));
    const kind = body.dry ? 'only decided' : 'begun';
    noteMade({ subject: `${params.name} ${begun.run.id}, ${kind}` }, request);
    return begun;
  }

  async secret(
    { params }: Inputs['secret'],
    @Req() request: Request,
  ): Promise<RouteResult<typeof api.automations.secret>> {
    const { id, secret } = await this.changes.makeSecret(params.name, callerOf(request));
    return { url: `${this.publicUrl.origin(request)}/hooks/run/${id}`, secret };
  }

  async versions({ params }: Inputs['versions']): Promise<AutomationVersion[]> {
    return this.views.versions(await this.automations.require(params.name));
  }

  next({ params, query }: Inputs['next']): Promise<string[]> {
    return this.changes.next(params.name, query.count);
  }

  async lanes({ params }: Inputs['lanes']): Promise<AutomationLane[]> {
    return this.views.lanes(await this.automations.require(params.name));
  }

  resetLane({ params, body }: Inputs['resetLane'], @Req() request: Request): Promise<void> {
    return this.changes.resetLane(params.name, body.key, callerOf(request));
  }

  async history(
    { params, query }: Inputs['history'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AutomationRun[]> {
    const automation = await this.automations.require(params.name);
    const { runs, next } = await this.views.history(automation, query);
    if (next !== null) linkNext({ request, response }, next);
    return runs;
  }

  async deliveries(
    { params, query }: Inputs['deliveries'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DeliveryRow[]> {
    const { id } = await this.automations.require(params.name);
    const { limit = usualPage, after } = query;
    // One more shows whether another page follows.
    const found = await this.learned.list(id, { limit: limit + 1, after });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last) linkNext({ request, response }, last.id);
    return page;
  }

  explain({ params }: Inputs['explain'], @Req() request: Request): Promise<RunExplanation> {
    return this.views.explanation(params.run, callerOf(request));
  }

  cancel({ params }: Inputs['cancel'], @Req() request: Request): Promise<RunExplanation> {
    return this.changes.cancel(params.run, callerOf(request));
  }

  async ofSession(
    { params }: Inputs['ofSession'],
    @Res() response: Response,
  ): Promise<RouteResult<typeof api.automations.ofSession>> {
    const run = await this.views.ofSession(params.id);
    const found = run && { run, event: run.event };
    // Nest would send nothing for null.
    response.json(found);
    return found;
  }

  #shown(source: ForgeSourceRow): ForgeSourceInfo {
    const { id, host, repository, self_name: self, files_by: trustedBy, problem } = source;
    const { url } = this.publicUrl;
    return {
      id,
      host,
      repository,
      self,
      trustedBy,
      problem,
      webhook: source.hook_id !== null,
      hookUrl: url === undefined ? null : `${url}/hooks/git/${id}`,
    };
  }
}

const usualPage = 100;

/** For the audit log. */
const versionText = ({ name, version }: { name: string; version: number }): string =>
  `${name}, version ${version}`;

/** Without a word about it, earlier trust in the repository’s definitions stays. */
function connectionText({ host, repository, trustFiles }: Inputs['connect']['body']): string {
  const trust = { true: ', its definitions are trusted', false: ', its definitions are not' };
  return `${host}/${repository}${trustFiles === undefined ? '' : trust[`${trustFiles}`]}`;
}
