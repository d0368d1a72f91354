import { placementEvidenceOfStatus } from '../../../src/partner/placement-evidence';

describe('what an HTTP status proves of a placement', () => {
  it.each([
    [[400, 402, 413, 415, 422], 'ORDER_REFUSED'],
    [[401, 403, 404, 405], 'ACCESS_REFUSED'],
    [[409], 'CONFLICT'],
    [[408, 425, 429, 500, 502, 503, 504, 599], 'ANSWERED'],
    [[100, 301, 302, 307, 308, 406, 410, 418, 421], 'UNKNOWN'],
  ] as const)('%p is %s', (statuses, evidence) => {
    expect(statuses.map(placementEvidenceOfStatus)).toEqual(statuses.map(() => evidence));
  });
});
