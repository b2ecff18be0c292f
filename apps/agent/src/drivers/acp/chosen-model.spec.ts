import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { AcpStage, type AcpStageOptions } from './testing/acp-stage.js';

let acp: AcpStage;
const begin = (options: AcpStageOptions) => (acp = new AcpStage(options));
afterEach(() => acp.close());

describe('a model that the user chooses in a session', () => {
  const resumes = { FAKE_RESUME: 'resume' };
  const choose = (model: string) =>
    acp.stage.say(newEvent('user', 'change', { args: { model }, message: model }));
  const models = () =>
    acp.events('turn').flatMap(({ args }) => {
      const options = (args['options'] ?? []) as { id: string; value: string }[];
      return options.flatMap(({ id, value }) => (id === 'model' ? value : []));
    });
  const starts = () => acp.received.filter((one) => one['initialize']).length;

  it('starts the program again before its next turn, in the same conversation', async () => {
    begin({ task: 'One', env: resumes, laterEnv: { FAKE_MODEL: 'other' } });
    await acp.stage.event('end');
    await choose('openai:other');
    await acp.stage.message('Two');
    await acp.stage.event('end', 2);
    expect(models()).toEqual(['small', 'other']);
    expect(acp.prompts).toEqual([['One'], ['Two']]);
    const ids = acp.events('turn').flatMap(({ args }) => args['conversation'] ?? []);
    expect(new Set(ids).size).toBe(1);
    await acp.stage.message('Three');
    await acp.stage.event('end', 3);
    expect(starts()).toBe(2);
  });

  it('ends a turn whose program cannot change it, and goes on', async () => {
    begin({ task: [['wait']], env: resumes, laterEnv: { FAKE_MODEL: 'other' } });
    await until('it works', () => acp.prompts.length === 1);
    await choose('openai:other');
    await acp.stage.event('end');
    expect((await acp.ended()).args).toMatchObject({ end: 'cancelled' });
    expect(models()).toEqual(['small', 'other']);
    expect(acp.prompts[1]).toEqual(['You were interrupted; go on.']);
  });

  it('is set in a turn whose program offers it, and the next start has it, too', async () => {
    const task = [['wait']];
    begin({
      task,
      env: resumes,
      laterEnv: { FAKE_MODEL: 'large' },
      settings: { model: 'a:small' },
    });
    await until('it works', () => acp.prompts.length === 1);
    await choose('a:large');
    await until('it has it', () => models().includes('large'));
    await acp.stage.say(newEvent('user', 'change', { args: { approvals: 'ask' }, message: 'Ask' }));
    await acp.stage.message('Two', { delivery: 'steer' });
    await acp.stage.event('end');
    expect([starts(), acp.prompts.length]).toEqual([2, 2]);
    expect(acp.received.filter(({ cancel }) => cancel)).toHaveLength(1);
    expect(acp.received.filter(({ choose: chosen }) => chosen)).toHaveLength(1);
  });

  it('waits for the user when the agent is gone from the server, until there is one', async () => {
    begin({ task: 'One', env: resumes });
    await acp.stage.event('end');
    await choose('openai:other');
    await acp.stage.message('Two');
    const error = await acp.stage.event('error');
    expect(error.message).toBe('Fake was removed from this server.');
    await choose('scripted:x');
    await acp.stage.event('end', 2);
    expect(acp.prompts[1]).toEqual(['Two']);
  });
});
