import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./forge-contract.spec.js'));
