import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { AppError, type BenchmarkData } from '@belay/protocol';
import { evaluationWith } from '@/testing/evaluation-with';
import { renderWeb, type RenderOptions } from '@/testing/render-web';
import { NewRunPage } from './new-run-page';

const entry = (name: string, suite: string | null, tasks: number) => ({
  name,
  suite,
  tasks,
  problem: suite === null ? 'No suite reads it.' : null,
});
const data: BenchmarkData = {
  folder: '/data/benchmarks',
  entries: [
    entry('HumanEval.jsonl', 'human-eval', 164),
    entry('notes.txt', null, 0),
    entry('polyglot', 'polyglot', 20),
  ],
};
const model = (name: string, ready = true) => ({ name, title: name, ready, remedy: null });
const replies = {
  evaluations: { data: () => data, start: () => evaluationWith({ id: 'made' }) },
  models: {
    list: () => [model('scripted:example:hello'), model('openai:none', false), model('google:big')],
  },
} satisfies RenderOptions['replies'];

const show = (more: RenderOptions['replies'] = {}) =>
  renderWeb(<NewRunPage />, { path: '/evaluations/new', replies: { ...replies, ...more } });
const write = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(new RegExp(`^${label}`)), { target: { value } });
const click = async (role: string, name: string) => {
  const found = await screen.findByRole(role, { name });
  await act(async () => fireEvent.click(found));
};
/** Resolves once the form knows the models. */
const ready = () => screen.findByLabelText('Model');
const startButton = () => screen.findByRole<HTMLButtonElement>('button', { name: 'Start run' });

describe('the form for a benchmark run', () => {
  it('starts the first data with the first usable model, and opens the run', async () => {
    const page = await show();
    await ready();
    screen.getByText('164 trials');
    write('Max cost', '2.50');
    await click('button', 'Start run');
    expect(page.rest.bodiesOf('evaluations.start')).toEqual([
      {
        data: 'HumanEval.jsonl',
        agent: 'model',
        model: 'google:big',
        sample: null,
        attempts: 1,
        concurrency: 2,
        maxDollars: 2.5,
        preflight: true,
      },
    ]);
    await waitFor(() => expect(page.pathname()).toBe('/evaluations/made'));
  });

  it('sends what was chosen', async () => {
    const page = await show();
    await startButton();
    write('Max cost', '3');
    write('Data', 'polyglot');
    await click('radio', 'Reference solution');
    write('Tasks', '5');
    write('Attempts per task', '3');
    write('Trials at a time', '4');
    await click(
      'checkbox',
      'Preflight: first check each task with its reference solution and with no change',
    );
    expect(screen.getByText('15 trials')).toBeTruthy();
    expect(screen.queryByLabelText('Model')).toBeNull();
    await click('button', 'Start run');
    expect(page.rest.bodiesOf('evaluations.start')).toEqual([
      {
        data: 'polyglot',
        agent: 'oracle',
        model: null,
        sample: 5,
        attempts: 3,
        concurrency: 4,
        maxDollars: null,
        preflight: false,
      },
    ]);
  });

  it('lets the browser refuse numbers that the data do not have', async () => {
    await show();
    await startButton();
    write('Data', 'polyglot');
    const tasks = screen.getByLabelText<HTMLInputElement>(/^Tasks/);
    write('Tasks', '21');
    expect(tasks.validity.valid).toBe(false);
    write('Tasks', '20');
    expect(tasks.validity.valid).toBe(true);
    // Another choice of data starts with all of its tasks.
    write('Data', 'HumanEval.jsonl');
    expect(tasks.value).toBe('');
  });

  it('says what to do without a model, and needs none for another agent', async () => {
    await show({ models: { list: () => [model('openai:none', false)] } });
    await screen.findByRole('link', { name: 'Add a key' });
    expect((await startButton()).disabled).toBe(true);
    await click('radio', 'No change');
    expect((await startButton()).disabled).toBe(false);
  });

  it('says why the models are not known', async () => {
    const refuse = () => {
      throw new AppError('forbidden', 'The models are for others.');
    };
    await show({ models: { list: refuse } });
    await screen.findByText('The models are for others.');
    expect((await startButton()).disabled).toBe(true);
  });

  it('says where to put data, and looks again', async () => {
    let entries: BenchmarkData['entries'] = [];
    await show({ evaluations: { data: () => ({ folder: '/data/benchmarks', entries }) } });
    await screen.findByText('/data/benchmarks');
    entries = data.entries;
    await click('button', 'Look again');
    await startButton();
    expect(screen.getByText('notes.txt').parentElement?.textContent).toBe(
      'notes.txt: No suite reads it.',
    );
  });

  it('stays when the server refuses, and shows why', async () => {
    const refuse = () => {
      throw new AppError('conflict', 'A run is in progress.');
    };
    const page = await show({ evaluations: { data: () => data, start: refuse } });
    await ready();
    await click('button', 'Start run');
    await screen.findByText('A run is in progress.');
    expect(page.pathname()).toBe('/evaluations/new');
    expect((await startButton()).disabled).toBe(false);
  });
});
