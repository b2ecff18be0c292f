import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./acp-driver.spec.js'));
