import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  automationDefinition,
  forgeEvent,
  type ForgeEvent,
  type Occurrence,
} from '@belay/protocol';
import { sampled, until } from '@belay/testing';
import type { PlayedKind } from '@belay/testkit';
import { ownerCaller } from '../../../access/caller.js';
import { Resolver } from '../../../egress/resolver.js';
import { GitHttp } from '../../../git/git-http.js';
import { SmartHttp } from '../../../git/smart-http.js';
import { AutomationsStore } from '../../definitions/automations.store.js';
import { ForgeBench } from '../../forges/testing/forge-bench.js';
import type { RunIntake } from '../../runs/run-intake.js';
import { Deliveries } from '../deliveries.js';
import { DeliveryRows } from '../delivery-rows.js';
import { ForgeQuestions } from '../forge-questions.js';
import { SteppedClock } from '../testing/stepped-clock.js';
import { Webhooks } from '../webhooks/webhooks.js';
import { PollCursorRows } from './poll-cursor-rows.js';
import { PollLists } from './poll-lists.js';
import { Polling } from './polling.js';

const kinds: readonly PlayedKind[] = ['github', 'gitlab', 'gitea'];
const all: ForgeEvent[] = [...forgeEvent.options];

/** A played host that is polled, and whose webhooks arrive if it has any. */
class PolledHost {
  readonly clock = new SteppedClock();
  readonly bench = new ForgeBench();
  deliveries!: Deliveries;
  polling!: Polling;
  source!: string;
  secret = 'hook-secret';
  #http!: GitHttp;
  #server: Server | undefined;
  readonly #arriving = new Set<Promise<unknown>>();

  async start(kind: PlayedKind, events: ForgeEvent[] = all): Promise<this> {
    const { bench, clock } = this;
    await bench.start(kind, { clock });
    bench.played.state.now = () => clock.now().getTime();
    bench.played.state.addUser('ada', { level: 'write' });
    const { config, database } = bench.logs;
    const automations = new AutomationsStore(database);
    for (let at = 0; at < events.length; at += 5) {
      const on = { host: bench.host, repository: 'acme/api', event: events.slice(at, at + 5) };
      const run = { task: 'Fix', budgets: { dollars: 1 } };
      const definition = automationDefinition.parse({ name: `all-${at}`, on, run });
      await automations.save(definition, { by: ownerCaller });
    }
    const { source } = await bench.sources.connect(bench.host, 'acme/api', {}, ownerCaller);
    this.source = source.id;
    this.#http = new GitHttp(config, new Resolver());
    const questions = new ForgeQuestions(automations, bench.sources, bench.forges);
    this.deliveries = new Deliveries(
      new DeliveryRows(database, clock),
      { take: () => Promise.resolve([]) } as unknown as RunIntake,
      ...([questions, automations, bench.sources, clock] as const),
    );
    const lists = new PollLists(
      new PollCursorRows(database),
      bench.hosts,
      new SmartHttp(this.#http),
    );
    const { sources, forges } = bench;
    this.polling = new Polling(automations, sources, forges, this.deliveries, lists, clock);
    return this;
  }

  /** Makes a webhook that arrives here. */
  async hook(): Promise<void> {
    const { bench, clock } = this;
    const webhooks = new Webhooks(bench.sources, bench.hosts, this.deliveries, clock);
    jest.spyOn(bench.sources, 'secretOf').mockResolvedValue(this.secret);
    this.#server = createServer((request, response) => {
      const taking = buffer(request)
        .then((body) => webhooks.take(this.source, request.headers, body))
        .then(
          () => response.writeHead(202).end(),
          () => response.writeHead(401).end(),
        )
        .finally(() => this.#arriving.delete(taking));
      this.#arriving.add(taking);
    });
    const server = this.#server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    await bench.open().setHook({ id: null, url, secret: this.secret });
  }

  /** Asks once, as at each interval. */
  async poll(): Promise<void> {
    await this.clock.forward(60_000, () => this.polling.drained());
  }

  /** The keys of what was learned of by one way. */
  async keys(transport: 'webhook' | 'poll', state?: string): Promise<string[]> {
    await this.bench.played.hooks.idle();
    await Promise.all(this.#arriving);
    await this.deliveries.drained();
    const rows = await this.bench.logs.database.kysely
      .selectFrom('automation_delivery')
      .selectAll()
      .where('transport', '=', transport)
      .orderBy('id')
      .execute();
    return rows.flatMap((row) =>
      row.event_key !== null && (state === undefined || row.state === state) ? [row.event_key] : [],
    );
  }

  /** The labels that were learned of, each with the hash of the text that it was set on. */
  async texts(transport: 'webhook' | 'poll'): Promise<string[]> {
    const rows = await this.bench.logs.database.kysely
      .selectFrom('automation_delivery')
      .select('occurrence')
      .where('transport', '=', transport)
      .where('occurrence', 'like', '%label%')
      .execute();
    return rows.flatMap(({ occurrence }) => {
      const { event, key, textSha256 } = JSON.parse(occurrence ?? '{}') as Partial<Occurrence>;
      if (!event?.endsWith('.labelled') || textSha256 === undefined) return [];
      return `${key?.replace(/@\d+$/, '@')} ${textSha256}`;
    });
  }

  /** One of everything that hosts tell of. */
  happen(): { sha: string; next: string } {
    const { state } = this.bench.played;
    const by = 'ada';
    const issue = state.openIssue({ by, title: 'It fails', body: 'Often.' });
    state.label(issue, 'belay', { by });
    state.comment(issue, '/belay fix it', { by });
    state.comment(issue, 'Thanks.', { by });
    const { pull, sha, branch } = this.bench.pull('ada');
    state.comment(pull, 'Looks fine.', { by });
    state.review(pull, { by, verdict: 'approved', body: 'Good.' });
    state.label(pull, 'belay', { by });
    const next = state.push(branch, { by, files: { 'src/more.js': 'more\n' } });
    state.setChecks(next, [{ name: 'test', state: 'failed' }]);
    state.publishRelease({ by, tag: 'v1' } as never);
    return { sha, next };
  }

  async close(): Promise<void> {
    await this.polling.onApplicationShutdown();
    await this.deliveries.onApplicationShutdown();
    await this.#http.onApplicationShutdown();
    await this.bench.close();
    this.#server?.close();
  }
}

const withoutTimes = (keys: string[]) => keys.map((key) => key.replace(/@\d+$/, '@')).toSorted();

let host: PolledHost;
afterEach(() => host.close());

describe.each(sampled(1, kinds))('polling of %s', (kind) => {
  it('finds what happens, once, and nothing that was there before', async () => {
    host = await new PolledHost().start(kind);
    const { state } = host.bench.played;
    const old = state.openIssue({ by: 'ada', title: 'Old' });
    state.comment(old, '/belay fix', { by: 'ada' });
    host.bench.pull('ada');
    host.clock.jump(300_000);
    host.polling.onLead();
    await host.polling.drained();
    await host.poll();
    expect(await host.keys('poll')).toEqual([]);

    const issue = state.openIssue({ by: 'ada', title: 'New' });
    state.label(issue, 'belay', { by: 'ada' });
    const text = state.comment(issue, '/belay fix', { by: 'ada' });
    const sha = state.push('other', { by: 'ada', files: { a: 'b' } });
    await host.poll();
    await host.poll();
    await host.poll();
    expect(withoutTimes(await host.keys('poll'))).toEqual(
      [
        `issue:${issue.number}:opened`,
        `label:${issue.number}:belay:@`,
        `comment:${text.id}`,
        `push:refs/heads/other:${sha}`,
      ].toSorted(),
    );
  }, 60_000);

  it('tells what fails, leaves the host alone, and goes on', async () => {
    host = await new PolledHost().start(kind, ['issue.opened']);
    host.polling.onLead();
    await host.polling.drained();
    const { player, state } = host.bench.played;
    state.openIssue({ by: 'ada', title: 'New' });
    player.fail = { status: 502, times: 1, headers: {} };
    await host.poll();
    const problem = async () => (await host.bench.sources.find(host.source))?.problem;
    expect(await problem()).toContain('502');
    expect(await host.keys('poll')).toEqual([]);
    await host.poll();
    await host.poll();
    expect(await host.keys('poll')).toHaveLength(1);
    expect(await problem()).toBeNull();
  }, 60_000);
});

describe.each(kinds)('polling and webhooks of %s', (kind) => {
  it('finds by both ways the same things, with the same keys', async () => {
    host = await new PolledHost().start(kind);
    await host.hook();
    host.polling.onLead();
    await host.polling.drained();
    await host.poll();
    host.happen();
    await until('webhooks came', async () => (await host.keys('webhook')).length > 5);
    const sent = await host.keys('webhook', 'ignored');
    expect(host.bench.played.hooks.deliveries.filter(({ error }) => error !== null)).toEqual([]);
    await host.poll();
    await host.poll();
    // Whatever polling found alone, no webhook told of.
    expect(await host.keys('poll', 'ignored')).toEqual([]);
    expect(await host.texts('poll')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^label:/),
        expect.stringMatching(/^pull-label:/),
      ]),
    );
    expect(await host.texts('webhook')).toEqual(expect.arrayContaining(await host.texts('poll')));
    const polled = withoutTimes(await host.keys('poll', 'duplicate'));
    const kinds = new Set(polled.map((key) => key.replace(/:.*/, '')));
    expect([...kinds]).toEqual(
      expect.arrayContaining(['issue', 'label', 'pull-label', 'comment', 'pull', 'checks', 'push']),
    );
    expect(withoutTimes(sent)).toEqual(expect.arrayContaining(polled));
    expect(withoutTimes(sent)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^checks:.*:failed:/)]),
    );
  }, 60_000);
});
