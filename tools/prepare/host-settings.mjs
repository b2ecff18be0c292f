import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The host’s settings for mirrors, proxies and private certificates, as files under host/ in a
 * build’s context. Images inherit them, but never credentials.
 */
export function hostSettings({ env = process.env, home = homedir(), at = '' } = {}) {
  const read = (path) => (existsSync(at + path) ? readFileSync(at + path, 'utf8') : '');
  const trusted = certificates(at, env);
  return [
    ...trusted,
    ...chromiumPolicy(trusted),
    ...aptFiles(at, read),
    ...npmFiles(env, home, read),
    ...pipFiles(env, home, read),
  ];
}

/** The proxies for a build’s environment; Docker accepts these names as arguments of any build. */
export function proxyArguments(env = process.env) {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
  const found = names.flatMap((name) => [
    [name, env[name] ?? env[name.toLowerCase()]],
    [name.toLowerCase(), env[name.toLowerCase()] ?? env[name]],
  ]);
  return Object.fromEntries(found.filter(([, value]) => value));
}

function certificates(at, env) {
  const folder = `${at}/usr/local/share/ca-certificates`;
  const keep = { path: 'host/ca/.keep', content: '' };
  if (existsSync(folder)) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.crt'),
    );
    if (names.length > 0)
      return [
        keep,
        ...names.sort().map((name) => ({
          path: `host/ca/${name.replaceAll('/', '-')}`,
          content: readFileSync(join(folder, name), 'utf8'),
        })),
      ];
  }
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (!extra || extra.startsWith('/etc/ssl/certs/') || !existsSync(extra)) return [keep];
  return [keep, ...splitBundle(readFileSync(extra, 'utf8'))];
}

/** update-ca-certificates requires one certificate per file. */
function splitBundle(text) {
  return certificatesIn(text).map((content, index) => ({
    path: `host/ca/extra-${index}.crt`,
    content: `${content}\n`,
  }));
}

const certificatesIn = (text) =>
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];

/** Chromium ignores the system’s certificates; a policy adds those of the host. */
function chromiumPolicy(files) {
  const found = files
    .flatMap(({ content }) => certificatesIn(content))
    .map((certificate) => certificate.replaceAll(/-----[^-]+-----|\s/g, ''));
  if (found.length === 0) return [];
  const content = `${JSON.stringify({ CACertificates: found })}\n`;
  return [{ path: 'host/etc/chromium/policies/managed/host.json', content }];
}

/** The host’s mirrors, if it has the Debian release of the images, and its apt proxies. */
function aptFiles(at, read) {
  const files = [{ path: 'host/apt/.keep', content: '' }];
  if (/^VERSION_CODENAME=bookworm$/m.test(read('/etc/os-release'))) {
    const sources = debianSources(aptSourceTexts(at, read));
    if (sources) files.push({ path: 'host/apt/host.sources', content: sources });
  }
  const wanted = /^\s*(Acquire::(https?::Proxy|Check-Valid-Until|Check-Date|Retries)\b.*;)\s*$/gim;
  const lines = configTexts(at, read).flatMap((text) =>
    [...text.matchAll(wanted)].map((match) => match[1]),
  );
  const safe = [...new Set(lines)].filter((line) => !/\/\/[^/\s]*@/.test(line));
  if (safe.length > 0) files.push({ path: 'host/apt/99host', content: `${safe.join('\n')}\n` });
  return files;
}

function aptSourceTexts(at, read) {
  return [
    '/etc/apt/sources.list',
    ...listed(at, '/etc/apt/sources.list.d', /\.(list|sources)$/),
  ].map(read);
}

function configTexts(at, read) {
  return [...listed(at, '/etc/apt/apt.conf.d', /^[\w.-]+$/), '/etc/apt/apt.conf'].map(read);
}

function listed(at, folder, pattern) {
  if (!existsSync(at + folder)) return [];
  const names = readdirSync(at + folder).filter((name) => pattern.test(name));
  return names.sort().map((name) => `${folder}/${name}`);
}

/** Stanzas of Debian’s own suites from both formats of apt sources, each suite once. */
export function debianSources(texts) {
  const seen = new Map();
  for (const text of texts) {
    for (const { uri, suites, components } of [...oneLine(text), ...stanzas(text)]) {
      if (!components.includes('main') || /\/\/[^/]*@/.test(uri)) continue;
      for (const suite of suites)
        if (/^bookworm(-updates|-security)?$/.test(suite) && !seen.has(suite)) seen.set(suite, uri);
    }
  }
  if (!seen.has('bookworm')) return undefined;
  return [...seen]
    .map(
      ([suite, uri]) =>
        `Types: deb\nURIs: ${uri}\nSuites: ${suite}\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n`,
    )
    .join('\n');
}

function oneLine(text) {
  const lines = [...text.matchAll(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(https?:\S+)\s+(\S+)\s+(.+)$/gm)];
  return lines.map(([, uri, suite, components]) => ({
    uri,
    suites: [suite],
    components: components.split(/\s+/),
  }));
}

function stanzas(text) {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name) => new RegExp(`^${name}:\\s*(.+)$`, 'm').exec(stanza)?.[1].split(/\s+/);
    const [types, uris, suites, components] = ['Types', 'URIs', 'Suites', 'Components'].map(field);
    if (!types?.includes('deb') || !uris || !suites || !components) return [];
    if (/^Enabled:\s*no/m.test(stanza) || !/^https?:/.test(uris[0])) return [];
    return [{ uri: uris[0], suites, components }];
  });
}

function npmFiles(env, home, read) {
  const own = [join(home, '.npmrc'), '/usr/etc/npmrc', '/usr/local/etc/npmrc', '/etc/npmrc'];
  const lines = own.flatMap((path) =>
    read(path)
      .split('\n')
      .map((line) => line.trim()),
  );
  const registries = lines.filter((line) => /^(@[\w.-]+:)?registry\s*=/.test(line));
  if (env.npm_config_registry) registries.unshift(`registry=${env.npm_config_registry}`);
  const unique = new Map();
  for (const line of registries) {
    const [key, value] = line.split(/\s*=\s*/);
    if (isPublicAddress(value) && !unique.has(key)) unique.set(key, value);
  }
  const settings = [...unique].map(([key, value]) => `${key}=${value}`);
  const content = [
    ...settings,
    'cafile=/etc/ssl/certs/ca-certificates.crt',
    'update-notifier=false',
  ];
  return [{ path: 'host/npm/npmrc', content: `${content.join('\n')}\n` }];
}

function pipFiles(env, home, read) {
  const text = ['/etc/pip.conf', join(home, '.config/pip/pip.conf'), join(home, '.pip/pip.conf')]
    .map(read)
    .join('\n');
  const values = (key) =>
    [...text.matchAll(new RegExp(`^${key}\\s*=\\s*(.+(?:\\n[ \\t]+.+)*)$`, 'gm'))]
      .flatMap(([, value]) => value.trim().split(/\s+/))
      .filter(isPublicAddress);
  const index = [env.PIP_INDEX_URL, ...values('index-url')].filter((v) => v && isPublicAddress(v));
  const extra = [...new Set(values('extra-index-url'))];
  const lines = ['[global]', 'cert = /etc/ssl/certs/ca-certificates.crt'];
  if (index.length > 0) lines.push(`index-url = ${index[0]}`);
  if (extra.length > 0) lines.push(`extra-index-url = ${extra.join(' ')}`);
  return [{ path: 'host/etc/pip.conf', content: `${lines.join('\n')}\n` }];
}

/** A network address without credentials; paths of the host mean nothing in an image. */
function isPublicAddress(value) {
  try {
    const url = new URL(value);
    return /^https?:$/.test(url.protocol) && !url.username && !url.password;
  } catch {
    return false;
  }
}
