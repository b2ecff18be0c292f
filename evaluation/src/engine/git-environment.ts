/**
 * Settings for git in verification containers: git trusts folders of any owner, and runs no
 * programs that a repository's settings name. Environment variables take precedence over settings
 * files.
 */
const settings = {
  'safe.directory': '*',
  'core.fsmonitor': 'false',
  'core.pager': 'cat',
  'core.attributesFile': '/dev/null',
  'protocol.ext.allow': 'never',
};

export const gitEnvironment: Record<string, string> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: String(Object.keys(settings).length),
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};
