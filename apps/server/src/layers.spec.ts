import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';

/** The rooms of the server, the lowest first: each may import from those in the rows before its own. */
const layers = [
  ['storage'],
  ['logs', 'settings', 'evaluations'],
  ['approvals'],
  ['egress'],
  ['models'],
  ['mcp'],
  ['sandboxes'],
  ['sessions'],
  ['doors'],
];

const isProduct = (file: string): boolean =>
  file.endsWith('.ts') && !/spec\.ts$|testing/.test(file);

it('imports of the server point one way', () => {
  const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(isProduct);
  const upward: string[] = [];
  const rooms = new Set<string>();
  for (const file of files) {
    const [room = ''] = file.split(sep);
    if (room === file) continue;
    rooms.add(room);
    const below = layers
      .slice(
        0,
        layers.findIndex((layer) => layer.includes(room)),
      )
      .flat();
    const text = readFileSync(join(__dirname, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/ from '(\.[^']*)'/g)) {
      const target = normalize(join(file, '..', path));
      const [other = ''] = target.split(sep);
      const isRoot = other === target;
      if (!isRoot && other !== room && !below.includes(other)) upward.push(`${file} → ${target}`);
    }
  }
  expect(upward).toEqual([]);
  expect([...rooms].toSorted()).toEqual(layers.flat().toSorted());
});
