import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareChromium } from './chromium.mjs';

describe('the browsers for the tests, where nothing is installed', () => {
  const before = { ...process.env };
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'belay-browsers-'));
    process.env.PATH = folder;
    delete process.env.CHROMIUM;
    delete process.env.CHROMIUM_SHELL;
  });
  afterEach(() => {
    Object.assign(process.env, before);
    rmSync(folder, { recursive: true });
  });
  const has = (name) => {
    const file = join(folder, name);
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    return file;
  };
  const prepare = () => prepareChromium(() => undefined, { install: false });

  it('are the whole one and its shell', async () => {
    const [whole, shell] = [has('chromium'), has('chromium-headless-shell')];
    expect(await prepare()).toEqual({ CHROMIUM: whole, CHROMIUM_SHELL: shell });
  });

  it('are the whole one alone where there is no shell, or where one is given', async () => {
    const whole = has('google-chrome');
    expect(await prepare()).toEqual({ CHROMIUM: whole, CHROMIUM_SHELL: whole });
    has('chromium-headless-shell');
    process.env.CHROMIUM = '/given';
    expect(await prepare()).toEqual({ CHROMIUM: '/given', CHROMIUM_SHELL: '/given' });
  });

  it('are asked for where there is none, or only the shell', async () => {
    await expect(prepare()).rejects.toThrow('The tests need Chromium: install it');
    has('chromium-headless-shell');
    await expect(prepare()).rejects.toThrow('The tests need Chromium: install it');
  });
});
