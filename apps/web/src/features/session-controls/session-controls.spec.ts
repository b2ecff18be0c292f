import { sessionCommands } from '@belay/protocol';
import { summaryWith } from '@/testing/session-log';
import { useQuestion } from '@/lib/ask';
import { sessionControls } from './session-controls';

const { pause, resume, restart, stop, remove } = sessionControls;
const steering = { pause, resume, restart, stop, remove };
const names = Object.keys(steering) as (keyof typeof steering)[];

describe('session controls', () => {
  it.each(names)('%s asks first exactly if its command has `asksFirst`', async (name) => {
    const sure = steering[name].confirm([summaryWith({ id: 's' })]);
    const { question } = useQuestion.getState();
    expect(question !== null).toBe(sessionCommands[name].asksFirst);
    question?.answer(null);
    expect(await sure).toBe(question === null);
  });

  it('ask once for several sessions and list their titles', async () => {
    const sure = stop.confirm([summaryWith({ title: 'One' }), summaryWith({ title: 'Two' })]);
    const { question } = useQuestion.getState();
    expect(question).toMatchObject({ title: 'Stop 2 sessions?', lines: ['One', 'Two'] });
    question?.answer('');
    expect(await sure).toBe(true);
  });
});
