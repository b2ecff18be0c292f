import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, type Class, type Module } from '@swc/core';

const maxDependencies = 6;

/** Classes whose constructor takes more than they may. */
function overloaded(source: string): string[] {
  const module = parseSync(source, { syntax: 'typescript', decorators: true });
  return classesIn(module).flatMap(([name, { body }]) => {
    const constructor = body.find((member) => member.type === 'Constructor');
    const count = constructor?.params.length ?? 0;
    return count > maxDependencies ? [`${name}: ${count}`] : [];
  });
}

function classesIn({ body }: Module): [string, Class][] {
  return body.flatMap((item): [string, Class][] => {
    const declared = item.type === 'ExportDeclaration' ? item.declaration : item;
    return declared.type === 'ClassDeclaration' ? [[declared.identifier.value, declared]] : [];
  });
}

it('no constructor of the server takes more than six dependencies', () => {
  const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => overloaded(readFileSync(join(__dirname, file), 'utf8')));
  expect(found).toEqual([]);
});

it('a planted one with seven is found', () => {
  const planted = (count: number) => {
    const params = Array.from({ length: count }, (_, at) => `private readonly p${at}: P${at}`);
    return `@Injectable()\nexport class Planted {\n  constructor(${params.join(', ')}) {}\n}\n`;
  };
  expect(overloaded(planted(7))).toEqual(['Planted: 7']);
  expect(overloaded(planted(6))).toEqual([]);
});
