import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  endedRunStates,
  type AutomationRun,
  type ForgeSourceInfo,
  type RunExplanation,
} from '@belay/protocol';
import { freePort, until } from '@belay/testing';
import {
  BelayServer,
  startForge,
  type PlayedForge,
  type PlayedPull,
  type Turn,
} from '@belay/testkit';
import { parse } from 'yaml';

const repository = 'acme/sums';

const test = (assertion: string): string =>
  [
    `const { test } = require('node:test');`,
    `const assert = require('node:assert');`,
    `const { sum } = require('../src/sum.js');`,
    `test('sums', () => ${assertion});`,
    '',
  ].join('\n');

/** A repository whose sum subtracts, and the files of the changes that agents make. */
export const files = {
  broken: 'exports.sum = (a, b) => a - b;\n',
  fixed: 'exports.sum = (a, b) => a + b;\n',
  tidy: '"use strict";\nexports.sum = (a, b) => a + b;\n',
  test: test("assert.equal(sum(1, 2), 3, 'one and two make three')"),
  named: test("assert.equal(sum(1, 2), 3, 'the sum of 1 and 2 is 3')"),
};

/** A played git host with the repository, and the jobs of a server that follows it. */
export class AutomationScene {
  /** Only an admin may name other files as models, and an automation is none. */
  readonly #scripts = mkdtempSync(join(tmpdir(), 'belay-scripts-'));
  #forge: PlayedForge | undefined;
  #server: BelayServer | undefined;

  get server(): BelayServer {
    if (!this.#server) throw new Error('The scene has not begun.');
    return this.#server;
  }

  get forge(): PlayedForge {
    if (!this.#forge) throw new Error('The scene has not begun.');
    return this.#forge;
  }

  /** Without webhooks, the server has no public address and polls. */
  async start({ webhooks }: { webhooks: boolean }): Promise<void> {
    const port = await freePort();
    const reached = { BELAY_PORT: `${port}`, BELAY_PUBLIC_URL: `http://127.0.0.1:${port}` };
    const examples = { BELAY_EXAMPLES: this.#scripts };
    this.#server = new BelayServer({ ...examples, ...(webhooks && reached) });
    await this.server.start();
    const first = { 'src/sum.js': files.broken, 'README.md': '# Sums\n' };
    this.#forge = await startForge('github', { repository, files: first });
    this.forge.state.addUser('ada', { level: 'write' });
    this.forge.state.addUser('eve', { level: 'read' });
    const { token } = this.forge;
    const access = { kind: 'github', private: true, insecure: true, token } as const;
    await this.server.client.git.setHost(this.forge.git.host, access);
  }

  async close(): Promise<void> {
    await this.#server?.dispose();
    await this.#forge?.close();
    rmSync(this.#scripts, { recursive: true });
  }

  connect(): Promise<ForgeSourceInfo> {
    return this.server.client.automations.connect({ host: this.forge.git.host, repository });
  }

  /** Adds a job that comes with Belay for this repository, with a played model, which has no price. */
  async addJob(
    name: string,
    model: string,
    more: { on?: object; run?: object; lane?: object } = {},
  ): Promise<void> {
    const jobs = await this.server.client.automations.jobs();
    const job = parse(jobs.find((one) => one.name === name)?.text ?? '') as Record<string, object>;
    const host = { host: this.forge.git.host, repository };
    const budgets = { tokens: 1_000_000, seconds: 300 };
    const text = JSON.stringify({
      ...job,
      on: { ...job['on'], ...host, ...more.on },
      run: { ...job['run'], model, budgets, ...more.run },
      lane: { ...job['lane'], cooldown: '1s', ...more.lane },
    });
    await this.server.client.automations.add({ text });
  }

  /** The runs of an automation and the decisions against one, newest first. */
  async runs(automation: string): Promise<AutomationRun[]> {
    return this.server.client.automations.history(automation, {});
  }

  /** Waits until the first run of an automation with a session has ended, and explains it. */
  async ended(automation: string): Promise<RunExplanation> {
    let runs: AutomationRun[] = [];
    const ended = async () => {
      runs = await this.runs(automation);
      // A comment on a line of a review is an event of its own, whose run comes later.
      return runs.findLast(
        ({ state, session }) => session !== null && endedRunStates.includes(state),
      );
    };
    // A run is a session and the tests of its change in two more sandboxes, one after the other.
    const first = await until(`a run of ${automation} has ended`, ended, {
      timeoutMs: 240_000,
      intervalMs: 200,
      state: () => JSON.stringify(runs),
    });
    return this.server.client.automations.explain(first.id);
  }

  /** Writes what a played model does from now on; returns the model’s name. */
  plays(name: string, turns: Turn[]): string {
    const folder = join(this.#scripts, 'sessions', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'script.yaml'), JSON.stringify({ turns }));
    return `scripted:example:${name}`;
  }

  /** The newest pull request at the host. */
  pull(): PlayedPull {
    const pull = this.forge.state.pulls.at(-1);
    if (!pull) throw new Error('There is no pull request.');
    return pull;
  }

  /** A file of the newest pull request’s branch. */
  fileOfPull(path: string): string | undefined {
    return this.forge.state.git.blob(this.pull().pull.sha, path);
  }
}

export const writeCall = (path: string, content: string) => ({
  operation: 'files.write',
  input: { path, content, overwrite: true },
});

export const report = (input: Record<string, unknown>) => ({ operation: 'report', input });

/** What a stranger’s attempt leaves. */
export const refusedRow = {
  state: 'refused',
  code: 'permission',
  why: `@eve has the permission read in ${repository}, and write is needed.`,
  session: null,
};
