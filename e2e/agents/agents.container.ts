import { belay, BelayServer } from '@belay/testkit';
import { workedAmong } from './worked-among.js';
import { knownFaults, plantedFiles } from './planted-files.js';
import { PlayedModel } from './played-model.js';
import { TenSteps } from './ten-steps.js';
import { testedAgents } from './tested-agents.js';
import { WhatWorks } from './what-works.js';

const key = 'sk-secret-key-0123456789';
const server = new BelayServer();
const table = new WhatWorks();

beforeAll(async () => {
  await server.start();
  const names = testedAgents.map(({ name }) => name);
  const installed = await belay(server.data, ['agents', 'install', ...names, '--accept']);
  expect(installed).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await server.dispose();
  process.stdout.write(`${table.markdown()}\n`);
});

describe.each(testedAgents)('$name', (agent) => {
  const { name, wire } = agent;
  let model: PlayedModel;
  beforeAll(async () => {
    model = await PlayedModel.open(wire);
    await server.client.models.setProvider(wire.provider, { unchecked: true, url: model.url, key });
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
      const isResumed = await steps.killOfProgram();
      await steps.killOfAgent();
      table.note(name, 'break', isResumed ? 'its own conversation' : 'a transcript');
      await steps.rewind(commit);
      table.note(name, 'rewind', 'yes');
    });
  });

  it('works in a terminal', async () => {
    if (!agent.inTerminal) return;
    const steps = new TenSteps(server, model, agent);
    await steps.during('terminal', async () => {
      await steps.commandInTerminal();
      await steps.refusalInTerminal();
      await steps.keys(key);
      table.note(name, 'terminal', agent.confirms ? 'confirms there, too' : 'yes');
    });
  });
});

describe.each(testedAgents)('a hostile repository and $name', (agent) => {
  const { name, wire } = agent;
  let model: PlayedModel;
  beforeAll(async () => {
    model = await PlayedModel.open(wire);
    await server.client.models.setProvider(wire.provider, { unchecked: true, url: model.url, key });
  });
  afterAll(() => model.close());

  const achieved = (trust: boolean) =>
    workedAmong(plantedFiles[name] ?? {}, { server, model, agent, trust });

  it('which nobody trusts runs nothing and changes no address', async () => {
    expect(await achieved(false)).toEqual(knownFaults[name]?.untrusted ?? []);
  });

  it('which the user trusts changes no address', async () => {
    // It fails to start with these files, so nothing of them is read.
    if (knownFaults[name]?.trusted === 'fails') return;
    expect(await achieved(true)).toEqual(knownFaults[name]?.trusted ?? []);
  });
});

it('docs/agents.md says what works', () => {
  expect(table.isWritten()).toBe(true);
});
