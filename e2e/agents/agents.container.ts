import { belay, BelayServer } from '@belay/testkit';
import type { ProviderWire } from '../../apps/server/src/models/testing/provider-wires.js';
import { moveConversation } from './move-conversation.js';
import { plainStart } from './plain-starts.js';
import { markOf, plantedFiles } from './planted-files.js';
import { PlayedModel } from './played-model.js';
import { TenSteps } from './ten-steps.js';
import { testedAgents } from './tested-agents.js';
import { WhatWorks } from './what-works.js';
import { workedAmong, type Achieved } from './worked-among.js';

const key = 'sk-secret-key-0123456789';
const server = new BelayServer();
const table = new WhatWorks();
/** Six agents are downloaded, checked and unpacked, which takes minutes on a busy machine. */
const installTimeoutMs = 15 * 60_000;
/** What the user of a terminal confirms there, as the table says it. */
const confirmed = {
  nothing: 'yes',
  folder: 'yes, once you open the folder',
  commands: 'yes, and asks there, too',
};

/** The provider of these models, as the server calls it from now on. */
async function opened(wire: ProviderWire): Promise<PlayedModel> {
  const model = await PlayedModel.open(wire);
  await server.client.models.setProvider(wire.provider, { unchecked: true, url: model.url, key });
  return model;
}

beforeAll(async () => {
  await server.start();
  const names = testedAgents.map(({ name }) => name);
  const installed = await belay(server.data, ['agents', 'install', ...names, '--accept']);
  expect(installed).toMatchObject({ code: 0 });
}, installTimeoutMs);
afterAll(async () => {
  await server.dispose();
  process.stdout.write(`${table.markdown()}\n`);
});

describe.each(testedAgents)('$name', (agent) => {
  const { name, wire } = agent;
  let model: PlayedModel;
  beforeAll(async () => {
    model = await opened(wire);
  });
  afterAll(() => model.close());

  it('does ten steps over ACP', async () => {
    const steps = new TenSteps(server, model, agent);
    await steps.during('acp', async () => {
      await steps.command();
      table.note(name, 'command', 'yes');
      const commit = await steps.edit();
      table.note(name, 'edit', 'yes');
      await steps.refusal();
      table.note(name, 'refusal', 'yes');
      table.note(name, 'question', (await steps.question()) ? 'yes' : 'none');
      await steps.keys(key);
      await steps.memory();
      const isResumed = await steps.killOfProgram();
      await steps.killOfAgent();
      table.note(name, 'break', isResumed ? 'its own conversation' : 'a transcript');
      await steps.rewind(commit);
      table.note(name, 'rewind', 'yes');
    });
  });

  it('works in a terminal', async () => {
    const steps = new TenSteps(server, model, agent);
    await steps.during('terminal', async () => {
      await steps.commandInTerminal();
      await steps.refusalInTerminal();
      await steps.messageInTerminal();
      await steps.keys(key);
      await steps.memory();
      table.note(name, 'terminal', confirmed[agent.confirms?.what ?? 'nothing']);
    });
  });
});

describe.each(testedAgents.filter(({ keepsTranscripts }) => keepsTranscripts))(
  'a conversation of $name',
  (agent) => {
    let model: PlayedModel;
    beforeAll(async () => {
      model = await opened(agent.wire);
    });
    afterAll(() => model.close());

    it('moves into a sandbox and back', async () => {
      await moveConversation(agent, { server, model });
    });
  },
);

describe.each(testedAgents)('a hostile repository and $name', (agent) => {
  const { name, wire } = agent;
  const files = plantedFiles(name);
  let model: PlayedModel;
  let session: string;
  beforeAll(async () => {
    model = await opened(wire);
  });
  afterAll(() => model.close());

  describe.each([
    { who: 'nobody', trust: false },
    { who: 'the user', trust: true },
  ])('which $who trusts', ({ trust }) => {
    let achieved: Achieved;
    beforeAll(async () => {
      achieved = await workedAmong(files, { server, model, agent, trust });
      ({ session } = achieved);
    });

    const allowed = trust ? (agent.runsTrusted ?? []) : [];
    const cases = Object.keys(files).map((path) => ({
      path,
      does: allowed.includes(path) ? 'runs' : 'runs nothing of',
    }));
    it.each(cases)('$does $path', ({ path }) => {
      expect(achieved.marks.includes(markOf(path))).toBe(allowed.includes(path));
    });

    it('changes no address', () => {
      expect(achieved.hosts).toEqual([]);
    });

    it('is worked on, or not before the user trusts it', () => {
      const refusal = trust ? undefined : agent.refusal;
      if (refusal === undefined) expect(achieved.refusal).toBeNull();
      else expect(achieved.refusal).toContain(refusal);
    });
  });

  it('would run something without Belay', async () => {
    expect(await plainStart(name, { session, data: server.data })).not.toEqual([]);
  });
});

it('docs/agents.md says what works', () => {
  expect(table.unwritten()).toEqual([]);
});
