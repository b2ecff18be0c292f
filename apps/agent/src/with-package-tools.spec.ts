import { withPackageTools } from './with-package-tools.js';

it('finds what package tools install, and lets pip install', () => {
  const env = withPackageTools({ PATH: '/bin', HOME: '/root' }, '/home/a');
  expect(env).toMatchObject({
    HOME: '/home/a',
    PATH: '/bin:/home/a/.local/bin:/home/a/.cargo/bin:/home/a/go/bin',
    PIP_BREAK_SYSTEM_PACKAGES: '1',
  });
});

it('keeps what the image says', () => {
  const env = withPackageTools({ PIP_BREAK_SYSTEM_PACKAGES: '0' }, '/home/a');
  expect(env).toMatchObject({ PIP_BREAK_SYSTEM_PACKAGES: '0' });
  expect(env['PATH']).toMatch(/^\/usr\/local\/sbin:.*:\/usr\/bin:/);
});
