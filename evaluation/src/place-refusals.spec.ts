import { join } from 'node:path';
import { DockerTasks, type TaskNeed } from '@belay/containers';
import { withPlaceRefusals, type PlaceNeeds } from './place-refusals.js';
import { suiteNamed } from './suites/index.js';
import { tellRefusals } from './tell-refused.js';
import { harborData, temporary, write } from './testing/fixtures.js';
import { storeTask } from './testing/store-task.js';

const { folder, remove } = temporary();
afterAll(remove);
const engine = new DockerTasks();
const cluster = new DockerTasks();
let made = 0;

const placeOf = (name: string, host: DockerTasks, lacks: TaskNeed[]) => ({
  place: { name, host, away: new AbortController().signal },
  cpus: 1,
  memoryMb: 1,
  lacks,
});
const own = placeOf('this-machine', engine, []);
const box = placeOf('box', cluster, ['network', 'services']);

function refused(files: Record<string, string>, places = [box], more: Partial<PlaceNeeds> = {}) {
  const data = harborData(join(folder, String(++made)));
  write(join(data, 'answer'), files);
  const trials = suiteNamed('harbor')
    .read(data)
    .map((task) => ({ task }));
  const needs: PlaceNeeds = { agent: { model: null }, engine, network: 'declared', ...more };
  return withPlaceRefusals(trials, places, needs);
}
const why = (...given: Parameters<typeof refused>) => refused(...given)[0]?.task.unsupported;

const online = { 'task.toml': '[environment]\nnetwork_mode = "public"\n' };

it('names what a task needs that no place has', () => {
  expect(why(storeTask)).toBe('It needs services beside it, which tasks do not get at box.');
  expect(why(online)).toBe('It needs a network, which tasks do not get at box.');
  expect(why(online, [box, own])).toBeFalsy();
  expect(why(storeTask, [own, box])).toBeFalsy();
  expect(why(online, [box], { network: 'none' })).toBeFalsy();
  expect(why({})).toBeFalsy();
});

it('gives sessions services on the engine of this machine alone', () => {
  const other = placeOf('other', cluster, []);
  expect(why(storeTask, [other])).toBeFalsy();
  const agent = { model: 'a:b' };
  expect(why(storeTask, [other, box], { agent })).toBe(
    'It needs services beside it, which tasks do not get at other and box.',
  );
  expect(why(storeTask, [other, own], { agent })).toBeFalsy();
});

it('tells it once for all tasks, before a run', () => {
  const told: string[] = [];
  const trials = refused(online);
  tellRefusals([...trials, ...trials], (sentence) => told.push(sentence));
  expect(told).toEqual([
    `${trials[0]?.task.id} cannot be run here: It needs a network, which tasks do not get at box. This counts as 0.`,
  ]);
});
