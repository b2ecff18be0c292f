import { installationLabel, removeOldRuntimes } from './old-runtimes.mjs';

const day = 24 * 3600;

/** The engine, as far as it is called; each container has the volume that it uses. */
class FakeEngine {
  containers = [];
  /** One time for all, so that their ages differ as given. */
  #now = Date.now() / 1000;

  holder(volume, { of, age = 0 } = {}) {
    const Labels = { 'belay.runtime': volume, ...(of && { [installationLabel]: of }) };
    const Created = this.#now - age;
    this.containers.push({ Id: volume, Names: [`/${volume}`], Created, Labels, volume });
  }

  uses(volume) {
    this.containers.push({ Id: `of-${volume}`, Names: ['/x'], Created: 0, Labels: {}, volume });
  }

  async get(path) {
    const { volume, label } = JSON.parse(new URLSearchParams(path.split('?')[1]).get('filters'));
    return this.containers.filter((one) =>
      volume ? volume.includes(one.volume) : label.every((name) => name in one.Labels),
    );
  }

  removed = [];
  async remove(path) {
    this.removed.push(path);
    this.containers = this.containers.filter(({ Id }) => path !== `/containers/${Id}`);
  }
}

describe('the runtimes of earlier builds', () => {
  let engine;
  beforeEach(() => (engine = new FakeEngine()));
  const remove = () => removeOldRuntimes(engine, { current: 'now', installation: '/here' });

  it('are removed except the latest two, each with its volume', async () => {
    for (const [name, age] of [
      ['old', 4],
      ['now', 0],
      ['before', 1],
      ['older', 5],
      ['earlier', 2],
    ])
      engine.holder(name, { of: '/here', age });
    await remove();
    expect(engine.removed).toEqual([
      '/containers/old',
      '/volumes/old',
      '/containers/older',
      '/volumes/older',
    ]);
  });

  it('stay complete while a container uses them', async () => {
    for (let age = 0; age < 4; age += 1) engine.holder(`r${age}`, { of: '/here', age: age + 1 });
    engine.uses('r3');
    await remove();
    expect(engine.removed).toEqual(['/containers/r2', '/volumes/r2']);
  });

  it('of another installation stay, no matter how many and how old', async () => {
    for (let age = 0; age < 5; age += 1)
      engine.holder(`r${age}`, { of: '/elsewhere', age: 30 * day });
    await remove();
    expect(engine.removed).toEqual([]);
  });

  it('without an installation are removed after a week', async () => {
    engine.holder('new', { age: 6 * day });
    engine.holder('old', { age: 8 * day });
    await remove();
    expect(engine.removed).toEqual(['/containers/old', '/volumes/old']);
  });
});
