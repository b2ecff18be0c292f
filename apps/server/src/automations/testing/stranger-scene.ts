import { createHmac } from 'node:crypto';
import type { AutomationDefinitionInput } from '@belay/protocol';
import { sampled, until } from '@belay/testing';
import {
  startForge,
  type HookDelivery,
  type PlayedForge,
  type PlayedIssue,
  type PlayedKind,
} from '@belay/testkit';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Outgoing } from '../out/outgoing.js';
import type { StoredRun } from '../runs/runs.store.js';
import { Deliveries } from '../triggers/deliveries.js';
import { Polling } from '../triggers/polling/polling.js';
import { isBesideTrigger } from './is-beside-trigger.js';
import { RunBench } from './run-bench.js';

type Definition = Omit<AutomationDefinitionInput, 'name' | 'run' | 'on'> & {
  run?: Partial<AutomationDefinitionInput['run']>;
};

/** What an automation begins with at a played host. */
export type StrangerTrigger = { event: string | string[] } & Record<string, unknown>;

interface NewPlace {
  on: StrangerTrigger;
  more?: Definition | undefined;
  /** Whether webhooks arrive. */
  polls?: boolean;
}

interface ExpectedRow {
  /** A run’s state and code, or the state of a delivery. */
  row: string;
  why: RegExp;
}

/** What a stranger does, and the row that says why nothing begins. */
export interface StrangerAttempt extends ExpectedRow {
  name: string;
  /** Where it can be expressed; everywhere by default. */
  at?: readonly PlayedKind[];
  on: StrangerTrigger;
  more?: Definition;
  polls?: boolean;
  act: (place: StrangerPlace) => unknown;
  /** What else it leaves, if it does several things. */
  also?: readonly ExpectedRow[];
}

export interface StrangerOutcome {
  rows: { row: string; why: string }[];
  sessions: string[];
  sent: unknown[];
  leaks: (string | null)[];
}

export const allStrangerKinds: readonly PlayedKind[] = ['github', 'gitlab', 'gitea'];
/** `npm test` attacks at one host, and the long tests at all. */
export const strangerKinds = sampled(1, allStrangerKinds);

type StrangerCase = [string, PlayedKind, StrangerAttempt];

/** The first attempts, each at a host that can express it; in the long tests all of them at each. */
export const strangerCases = (
  attempts: readonly StrangerAttempt[],
  first: number,
): StrangerCase[] => {
  const cases = attempts.map((attempt) =>
    (attempt.at ?? allStrangerKinds).map((kind): StrangerCase => [
      `${attempt.name} (${kind})`,
      kind,
      attempt,
    ]),
  );
  const others = cases.flatMap((each) => each.slice(1));
  return sampled(first, [...cases.flatMap((each) => each.slice(0, 1)), ...others]);
};

/** The whole server, and for each attempt a played git host that sends it signed webhooks. */
export class StrangerScene {
  readonly bench = new RunBench();
  /** What the server has written to its log. */
  readonly logged: string[] = [];
  readonly #places: StrangerPlace[] = [];

  async start(): Promise<this> {
    await this.bench.start({
      BELAY_REQUESTS_PER_SECOND: '0',
      BELAY_PUBLIC_URL: 'https://belay.example.com',
    });
    return this;
  }

  /** A host with the users `ada`, who may write, `reader` and `mallory`, and an automation that follows its repository. */
  async place(
    kind: PlayedKind,
    { on, more = {}, polls = false }: NewPlace,
  ): Promise<StrangerPlace> {
    const { bench } = this;
    const forge = await startForge(kind, { repository: 'acme/api' });
    const { state } = forge;
    state.now = () => bench.clock.now().getTime();
    state.addUser('ada', { level: 'write' });
    state.addUser('reader', { level: 'read' });
    state.addUser('mallory');
    const { host } = forge.git;
    const access = { private: true, insecure: true, kind, token: forge.token };
    await bench.belay.json('PUT', `/api/git/hosts/${host}`, access);
    const trigger = { host, repository: 'acme/api', by: polls ? 'poll' : 'webhook', ...on };
    const automation = await bench.define({
      ...more,
      on: trigger as AutomationDefinitionInput['on'],
    });
    const id = await this.connect(forge, { polls });
    const place = new StrangerPlace(this, { forge, automation, source: id });
    if (polls) await place.polled();
    this.#places.push(place);
    return place;
  }

  /** Follows the repository, with a webhook that arrives unless it is polled. */
  async connect(forge: PlayedForge, { polls = false, trustFiles = false } = {}): Promise<string> {
    const { belay } = this.bench;
    const { id } = await belay.json<{ id: string }>('POST', '/api/automation-sources', {
      host: forge.git.host,
      repository: forge.state.path,
      trustFiles,
    });
    for (const hook of forge.hooks.hooks) {
      hook.url = `${belay.url}/hooks/git/${id}`;
      hook.isActive = !polls;
    }
    return id;
  }

  /** Makes an attempt, and returns what has come of it. */
  async attempt(kind: PlayedKind, attempt: StrangerAttempt): Promise<StrangerOutcome> {
    const place = await this.place(kind, attempt);
    await attempt.act(place);
    if (attempt.polls) await place.polled();
    return place.outcome();
  }

  async leave(): Promise<void> {
    for (const place of this.#places.splice(0)) await place.close();
  }

  async close(): Promise<void> {
    await this.leave();
    await this.bench.close();
  }
}

/** One played host with one automation. */
export class StrangerPlace {
  readonly forge: PlayedForge;
  readonly automation: SavedAutomation;
  readonly source: string;
  readonly #requests: number;
  readonly #refs: string;

  constructor(
    private readonly scene: StrangerScene,
    { forge, automation, source }: Pick<StrangerPlace, 'forge' | 'automation' | 'source'>,
  ) {
    this.forge = forge;
    this.automation = automation;
    this.source = source;
    this.#requests = forge.player.seen.length;
    this.#refs = this.#belayRefs();
  }

  get state(): PlayedForge['state'] {
    return this.forge.state;
  }

  get bench(): RunBench {
    return this.scene.bench;
  }

  issue(by: string, body = 'It crashes.'): PlayedIssue {
    return this.state.openIssue({ by, title: 'Crash', body });
  }

  /** The usual begin: a writer’s issue with the label of a writer. */
  label({ author = 'ada', by = 'ada', body = 'It crashes.' } = {}): PlayedIssue {
    const issue = this.issue(author, body);
    this.state.label(issue, 'belay', { by });
    return issue;
  }

  /** A change on a branch of the repository, and its pull request. */
  pull(by: string, branch = 'feature') {
    const sha = this.state.push(branch, { by, files: { 'src/a.js': `// ${branch}\n` } });
    return { sha, pull: this.state.openPull({ by, branch, title: 'A change' }) };
  }

  /** Skips to the next polls, and waits for what they find. */
  async polled(): Promise<void> {
    this.bench.clock.skip(61_000);
    await this.bench.belay.app.get(Polling).drained();
  }

  /** Resolves when all that was sent is taken, and something was decided about each run. */
  async settled(): Promise<StoredRun[]> {
    await this.forge.hooks.idle();
    await this.bench.belay.app.get(Deliveries).drained();
    const isDecided = async () => (await this.runs()).every(({ state }) => state !== 'pending');
    await until('all runs are decided', isDecided);
    return this.runs();
  }

  /** The newest first. */
  runs(): Promise<StoredRun[]> {
    return this.bench.store.ofAutomation(this.automation.id, { limit: 100 });
  }

  deliveries() {
    return this.bench.kysely
      .selectFrom('automation_delivery')
      .selectAll()
      .where('source', '=', this.source)
      .orderBy('id')
      .execute();
  }

  /** The task of the session that the only run began. */
  async task(): Promise<string> {
    const runs = await this.settled();
    const [run] = runs;
    if (!run || runs.length > 1) throw new Error(`There are ${runs.length} runs.`);
    if (run.code !== null) throw new Error(`${run.state} ${run.code}: ${run.why}`);
    const session = await this.bench.sessionOf(run.id);
    return (await this.bench.belay.log.summary(session)).task;
  }

  /** Requests to the host since that could change something there, and branches of this server. */
  sent(): unknown[] {
    const writes = this.forge.player.seen
      .slice(this.#requests)
      .filter(({ method }) => method !== 'GET' && method !== 'HEAD');
    return [...writes, ...(this.#belayRefs() === this.#refs ? [] : [this.#belayRefs()])];
  }

  /** Everything that the server keeps, logs, gives to agents and says to the host about what happened here. */
  async kept(): Promise<string> {
    const { kysely, belay } = this.bench;
    const runs = await this.runs();
    const rows = await Promise.all(
      (['automation_delivery', 'automation_run', 'automation_outgoing', 'event'] as const).map(
        (table) => kysely.selectFrom(table).selectAll().execute(),
      ),
    );
    const items = await Promise.all(runs.map(({ id }) => belay.app.get(Outgoing).list(id)));
    const explained = await Promise.all(
      runs.map(({ id }) => belay.json('GET', `/api/automation-runs/${id}`)),
    );
    const said = this.forge.player.seen.slice(this.#requests);
    const all = [rows, items, explained, said, belay.sandboxes.starts, this.scene.logged];
    return JSON.stringify(all);
  }

  /** The secret of its webhook. */
  get secret(): string {
    return this.forge.hooks.hooks[0]?.secret ?? '';
  }

  /** What has come of an attempt: all rows that say why, the sessions, what was sent, and the secrets that are kept in plain. */
  async outcome(): Promise<StrangerOutcome> {
    const runs = await this.settled();
    const { on } = this.automation.definition;
    const learned = (await this.deliveries()).filter(
      ({ state, why }) =>
        state !== 'duplicate' && !(state === 'done' && why === null) && !isBesideTrigger(on, why),
    );
    const rows = [
      ...runs.map(({ state, code, why }) => ({ row: `${state} ${code}`, why: why ?? '' })),
      ...learned.map(({ state, why }) => ({ row: state, why: why ?? '' })),
    ];
    const sessions = await this.bench.sessions(this.automation);
    const kept = await this.kept();
    const hooks = this.forge.hooks.hooks.flatMap(({ secret, signingSecret }) => [
      secret,
      signingSecret,
    ]);
    const leaks = [this.forge.token, ...hooks].filter(
      (secret) => secret !== null && secret !== '' && kept.includes(secret),
    );
    return { rows, sessions, sent: this.sent(), leaks };
  }

  /** Holds what happens back until something else has happened, of which the server is not told. */
  async late(happens: () => unknown, meanwhile: () => unknown): Promise<void> {
    const { hooks } = this.forge;
    hooks.fate = () => 'hold';
    happens();
    hooks.fate = () => 'drop';
    meanwhile();
    hooks.fate = () => 'send';
    hooks.letGo();
    await hooks.idle();
  }

  /** The last webhook that this leads to, which never arrives. */
  async unsent(happens: () => unknown): Promise<HookDelivery> {
    const { hooks } = this.forge;
    const before = hooks.deliveries.length;
    hooks.fate = () => 'drop';
    happens();
    hooks.fate = () => 'send';
    await hooks.idle();
    const last = hooks.deliveries.slice(before).at(-1);
    if (!last) throw new Error('Nothing was sent.');
    return last;
  }

  /** Sends a webhook as anybody can, and returns the status of the answer. */
  async resend(
    { headers, body }: Pick<HookDelivery, 'headers' | 'body'>,
    to = this.source,
  ): Promise<number> {
    const address = `${this.bench.belay.url}/hooks/git/${to}`;
    const { status } = await fetch(address, { method: 'POST', headers, body });
    return status;
  }

  /** Sends another payload in place of one of GitHub, signed as by the host itself. */
  resigned(sent: HookDelivery, body: string): Promise<number> {
    const hmac = createHmac('sha256', this.secret).update(body).digest('hex');
    const headers = { ...sent.headers, 'x-hub-signature-256': `sha256=${hmac}` };
    return this.resend({ headers, body });
  }

  async close(): Promise<void> {
    const { belay } = this.bench;
    await this.settled().catch(() => undefined);
    for (const { id, state } of await this.runs())
      if (!['done', 'failed', 'cancelled', 'skipped', 'refused'].includes(state))
        await belay.json('POST', `/api/automation-runs/${id}/cancel`);
    await belay.json('DELETE', `/api/automation-sources/${this.source}`);
    await this.forge.close();
  }

  #belayRefs(): string {
    const names = [...this.forge.state.git.refs()];
    return JSON.stringify(names.filter(([name]) => name.startsWith('refs/heads/belay/')));
  }
}
