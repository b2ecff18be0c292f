import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeHomeSettings, writeIdentity } from './home-settings.js';

describe('the settings of a home folder', () => {
  let home: string;
  let systemGit: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'belay-home-'));
    systemGit = join(home, 'gitconfig-of-the-image');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const git = (...args: string[]): string => {
    const env = { PATH: process.env['PATH'], HOME: home, GIT_CONFIG_SYSTEM: systemGit };
    return execFileSync('git', args, { cwd: home, env, encoding: 'utf8' }).trim();
  };
  const author = () => {
    git('commit', '-q', '--allow-empty', '-m', 'One');
    return git('log', '-1', '--format=%an <%ae>');
  };

  it('let git commit, as the repository or its user say when they do', () => {
    writeHomeSettings(home, { systemGit });
    git('init', '-q');
    expect(author()).toBe('Belay agent <agent@belay.invalid>');
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada\n');
    expect(author()).toBe('Ada <agent@belay.invalid>');
    git('config', 'user.name', 'Lin');
    git('config', 'user.email', 'lin@example.org');
    expect(author()).toBe('Lin <lin@example.org>');
  });

  it('have the identity of the user who began the session, unless it was changed there', () => {
    writeHomeSettings(home, { systemGit });
    const odd = 'Ada "the #1; \\ [user]" Ω';
    writeIdentity(home, { name: odd, email: 'ada@example.org' });
    git('init', '-q');
    expect(author()).toBe(`${odd} <ada@example.org>`);
    git('config', '--global', 'user.name', 'Lin');
    writeIdentity(home, { name: 'Ada', email: 'ada@example.org' });
    expect(author()).toBe('Lin <ada@example.org>');
  });

  it('leave the identity to an image that has one', () => {
    writeFileSync(systemGit, '[user]\n\tname = Image\n\temail = image@example.org\n');
    writeHomeSettings(home, { systemGit });
    git('init', '-q');
    expect(author()).toBe('Image <image@example.org>');
  });

  it('keep what a session has written', () => {
    writeHomeSettings(home, { systemGit, cargo: 'one' });
    git('config', '--global', 'user.name', 'Ada');
    writeHomeSettings(home, { systemGit, cargo: 'two' });
    expect(git('config', '--global', 'user.name')).toBe('Ada');
    expect(readFileSync(join(home, '.cargo/config.toml'), 'utf8')).toBe('one');
  });
});
