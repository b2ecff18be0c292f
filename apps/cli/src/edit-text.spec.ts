import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { editText } from './edit-text.js';

describe('editing a text', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-editor-'));
  const opened = join(folder, 'opened');
  const { isTTY } = process.stdin;
  const saved: string[] = [];
  const places: string[] = [];

  beforeAll(() => {
    process.stdin.isTTY = true;
  });
  beforeEach(() => {
    saved.length = 0;
    places.length = 0;
  });
  afterAll(() => {
    process.stdin.isTTY = isTTY;
    delete process.env.VISUAL;
    rmSync(folder, { recursive: true });
  });

  /** An editor that runs a command on the file, `$1`. */
  function editsBy(command: string): void {
    const script = join(folder, 'editor.sh');
    writeFileSync(script, `printf %s "$1" > '${opened}'\n${command}\n`);
    process.env.VISUAL = `sh ${script}`;
  }

  const edit = (isValid: (text: string) => boolean, again: boolean[] = []) =>
    editText({
      text: 'name: a\n',
      file: 'a.yaml',
      save: (text) => Promise.resolve(saved.push(text) > 0 && isValid(text)),
      goesOn: (path) => Promise.resolve(places.push(path) > 0 && again.shift() === true),
    });
  const path = () => readFileSync(opened, 'utf8');

  it('saves it, and leaves no file', async () => {
    editsBy('echo "dry: true" >> "$1"');
    expect(await edit(() => true)).toBe('saved');
    expect(saved).toEqual(['name: a\ndry: true\n']);
    expect(existsSync(dirname(path()))).toBe(false);
  });

  it('left as it was, saves nothing', async () => {
    editsBy('true');
    expect(await edit(() => true)).toBe('unchanged');
    expect(saved).toEqual([]);
    expect(existsSync(dirname(path()))).toBe(false);
  });

  it('keeps what was typed for a user who stops, and says where', async () => {
    editsBy('echo "dry: maybe" >> "$1"');
    expect(await edit(() => false)).toBe('kept');
    expect(places).toEqual([path()]);
    expect(readFileSync(path(), 'utf8')).toBe('name: a\ndry: maybe\n');
    rmSync(dirname(path()), { recursive: true });
  });

  it('goes on with what was typed until it is saved', async () => {
    editsBy('echo "# more" >> "$1"');
    expect(await edit((text) => text.split('# more').length === 3, [true])).toBe('saved');
    expect(saved).toEqual(['name: a\n# more\n', 'name: a\n# more\n# more\n']);
    expect(existsSync(dirname(path()))).toBe(false);
  });

  it('keeps what was typed if the editor or the server fails', async () => {
    editsBy('echo "dry: true" >> "$1"; exit 3');
    await expect(edit(() => true)).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('/a.yaml'),
    });
    expect(existsSync(path())).toBe(true);
    rmSync(dirname(path()), { recursive: true });
    editsBy('echo "dry: true" >> "$1"');
    const broken = () => {
      throw new Error('The connection is lost.');
    };
    await expect(edit(broken)).rejects.toThrow('lost');
    expect(existsSync(path())).toBe(true);
    rmSync(dirname(path()), { recursive: true });
    editsBy('exit 3');
    await expect(edit(() => true)).rejects.toMatchObject({ code: 'cancelled' });
    expect(existsSync(dirname(path()))).toBe(false);
  });
});
