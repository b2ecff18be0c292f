const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

const { createContext } = vm;

/**
 * Jest’s environment for Node, in a context whose globals are ordinary. In Jest’s own, each access to a global (`Map`,
 * `Error`, `process`) calls interceptors, which takes ten times as long.
 */
module.exports = class PlainContext extends TestEnvironment {
  constructor(...parts) {
    // The environment makes its context while it is constructed.
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...parts);
    } finally {
      vm.createContext = createContext;
    }
  }
};
