import type { ImageSource, Task } from './model.js';
import { tellRefused } from './tell-refused.js';

const { signal } = new AbortController();
const task = (id: string, more: Partial<Task> = {}): Task =>
  ({ id, environment: { image: { kind: 'image', name: id } }, ...more }) as Task;
/** Has only the image `here`. */
const images = {
  refusal: async (source: ImageSource) =>
    source.kind === 'image' && source.name === 'here' ? null : 'Its image is not here.',
};
const told = async (tasks: Task[]) => {
  const notes: string[] = [];
  await tellRefused(tasks, images, { signal, onNotice: (note) => notes.push(note) });
  return notes;
};

it('names the tasks that cannot be run, by reason, and no others', async () => {
  const odd = task('odd', { unsupported: 'It needs a GPU.' });
  expect(await told([task('here'), task('a'), task('b'), odd])).toEqual([
    'a, b cannot be run here: Its image is not here. This counts as 0.',
    'odd cannot be run here: It needs a GPU. This counts as 0.',
  ]);
  expect(await told([task('here')])).toEqual([]);
});

it('refuses a run without a task that can be run', async () => {
  await expect(told([task('a'), task('b')])).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'a, b cannot be run here: Its image is not here.',
  });
});
