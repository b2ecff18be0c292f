import { LayeredMap } from './layered-map';

const of = (entries: Record<string, number>) => new LayeredMap([new Map(Object.entries(entries))]);

describe('LayeredMap', () => {
  it('finds keys of any joined map, preferring the newest', () => {
    const joined = of({ a: 1, b: 1 })
      .join(of({ b: 2 }))
      .join(of({ c: 3 }));
    expect(['a', 'b', 'c', 'd'].map((key) => joined.get(key))).toEqual([1, 2, 3, undefined]);
  });

  it('is associative', () => {
    const [a, b, c] = [of({ x: 1, y: 1 }), of({ y: 2 }), of({ y: 3, z: 3 })];
    for (const joined of [a.join(b).join(c), a.join(b.join(c))])
      expect(['x', 'y', 'z'].map((key) => joined.get(key))).toEqual([1, 3, 3]);
  });

  it('keeps the number of maps small', () => {
    let joined = new LayeredMap<number, number>();
    for (let n = 0; n < 5_000; n += 1) joined = joined.join(new LayeredMap([new Map([[n, n]])]));
    const { maps } = joined as unknown as { maps: ReadonlyMap<number, number>[] };
    expect(maps.length).toBeLessThan(14);
    expect([0, 2_500, 4_999].map((n) => joined.get(n))).toEqual([0, 2_500, 4_999]);
  });
});
