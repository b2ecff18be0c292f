import { fileEntry, type Entry } from '../entries.js';

/**
 * The build context of an image with a JavaScript repository at /testbed, whose commit is in the
 * folder `repository`. The helper image's npm installs packages, without their scripts. Tests run
 * with the version `node`, and npm is offline, so that it fails at once.
 */
export function repositoryImage(node: string): Entry[] {
  const lines = [
    'ARG BASE',
    'FROM ${BASE}',
    'WORKDIR /testbed',
    'COPY repository /testbed/.git',
    'RUN git config core.bare false && git config core.autocrlf false && git reset -q --hard base',
    `RUN if [ -f package-lock.json ] && npm ci ${quiet}; then :; elif [ -f package.json ]; then npm install --no-package-lock ${quiet}; fi`,
    `RUN npm install --prefix /opt/node ${quiet} node-linux-$([ "$(uname -m)" = aarch64 ] && echo arm64 || echo x64)@${node} && ln -s /opt/node/node_modules/node-linux-*/bin /opt/node/bin`,
    'RUN mkdir -p /opt/nvm && : > /opt/nvm/nvm.sh',
    'ENV NVM_DIR=/opt/nvm PATH=/opt/node/bin:$PATH npm_config_offline=true',
  ];
  return [fileEntry('Dockerfile', `${lines.join('\n')}\n`)];
}

const quiet = '--silent --ignore-scripts --no-audit --no-fund --legacy-peer-deps';
