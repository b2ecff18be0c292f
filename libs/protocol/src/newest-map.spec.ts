import { NewestMap } from './newest-map.js';
import { NewestSet } from './newest-set.js';

describe('the newest of many', () => {
  it('keys of a map are kept, and one that is set anew is the newest', () => {
    const kept = new NewestMap<string, number>(2).set('a', 1).set('b', 2);
    expect([...kept.set('a', 3)]).toEqual([
      ['b', 2],
      ['a', 3],
    ]);
    expect([...kept.set('c', 4)]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });

  it('values of a set are kept, and one that is added anew is the newest', () => {
    const kept = new NewestSet<string>(2).add('a').add('b').add('a');
    expect([...kept]).toEqual(['b', 'a']);
    expect([...kept.add('c')]).toEqual(['a', 'c']);
  });
});
