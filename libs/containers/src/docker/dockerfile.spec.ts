import { needsBuildKit, withLocalImages } from './dockerfile.js';

const local = async (name: string) => (name.startsWith('hub/') ? `local/${name.slice(4)}` : name);

it('names in FROM and COPY --from become local ones, except for those of stages', async () => {
  const text = [
    '# syntax=docker/dockerfile:1.7',
    'ARG VERSION=3',
    'FROM --platform=linux/amd64 hub/tool:${VERSION} AS tool',
    'FROM hub/base AS base',
    'COPY --from=tool /a /a',
    'COPY --chown=1:1 --from=hub/uv:latest /uv /bin/',
    'COPY --from=0 /b /b',
    'FROM base',
  ].join('\n');
  expect((await withLocalImages(text, local)).split('\n')).toEqual([
    'ARG VERSION=3',
    'FROM local/tool:3 AS tool',
    'FROM local/base AS base',
    'COPY --from=tool /a /a',
    'COPY --chown=1:1 --from=local/uv:latest /uv /bin/',
    'COPY --from=0 /b /b',
    'FROM base',
  ]);
});

it('arguments of the build count in FROM instead of their defaults', async () => {
  const text = 'ARG VERSION=3\nFROM hub/tool:${VERSION}';
  const built = await withLocalImages(text, local, { VERSION: '4' });
  expect(built).toBe('ARG VERSION=3\nFROM local/tool:4');
});

it('lines like instructions within a command or a here-document stay unchanged', async () => {
  const text =
    'FROM scratch\nRUN psql -c "select a \\\n  FROM hub/b"\nRUN <<EOF\nFROM hub/c\nEOF\nCMD x';
  expect(await withLocalImages(text, local)).toBe(text);
});

it.each([
  ['RUN --mount=type=cache,target=/c true', 'RUN --mount'],
  ['COPY --from=a --chmod=755 b /b', 'COPY --chmod'],
  ['ADD --link a /a', 'ADD --link'],
  ["COPY <<'END' /a\ntext\nEND", 'a here-document'],
  ['RUN cat <<< word && echo $((1 << 2)) --mount', null],
  ['COPY --chown=1:1 a b', null],
])('%j needs %j of BuildKit', (line, what) => {
  expect(needsBuildKit(`FROM a\n${line}\n`)).toBe(what);
});
