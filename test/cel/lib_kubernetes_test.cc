// SPDX-License-Identifier: Apache-2.0
// Kubernetes' libraries: quantities, versions, URLs, addresses, named formats.
#include <gtest/gtest.h>

#include "cel/evaluation.h"

namespace ks::cel {
namespace {

constexpr Row kRows[] = {
    {"quantity('1') == quantity('1000m')"},
    {"quantity('x') == quantity('1')",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"quantity('1Xi') == quantity('1')",
     "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"isQuantity('1Gi') && !isQuantity('1 Gi')"},
    {"sign(quantity('-1')) == -1 && sign(quantity('0')) == 0"},
    {"quantity('1').add(1) == quantity('2') && quantity('1').sub(quantity('3')) == quantity('-2')"},
    {"quantity('1').compareTo(quantity('2')) == -1"},
    {"quantity('2Gi').isGreaterThan(quantity('2G')) && quantity('1').isLessThan(quantity('2'))"},
    {"quantity('5').isInteger() && !quantity('1.5').isInteger() && !quantity('1.5Gi').isInteger()"},
    {"quantity('5k').asInteger() == 5000 && quantity('1Gi').asInteger() == 1073741824"},
    {"quantity('1.5').asInteger() == 1", "cannot convert value to integer"},
    {"quantity('1.5Gi').asInteger() == 1", "cannot convert value to integer"},
    {"quantity('1500m').asApproximateFloat() == 1.5"},
    {"quantity('9223372036854775807').isInteger()", "false"},
    {"quantity('9223372036854775808').isInteger()", "false"},
    {"quantity('10E').isInteger()", "false"},
    {"quantity('1000m').isInteger()", "false"},
    {"quantity('1e3').asInteger() == 1000"},
    {"quantity('1.0').isInteger()", "false"},
    {"quantity('1Ei').isInteger()", "false"},
    {"quantity('16Ei').isInteger()", "false"},
    {"quantity('1').add(9223372036854775807).isInteger()", "false"},
    {"quantity('0.1').asApproximateFloat() == 0.1"},
    {"quantity('1Gi').asApproximateFloat() == 1073741824.0"},
    {"semver('1.2.3') == semver('1.2.3+build')"},
    {"semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))"},
    {"semver('1.2.3-rc.1').isLessThan(semver('1.2.3-rc.a'))"},
    {"semver('1.2.3').compareTo(semver('1.10.0')) == -1"},
    {"semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == "
     "3"},
    {"semver('1.2') == semver('1.2.0')", "No Major.Minor.Patch elements found"},
    {"semver('') == semver('1.2.0')", "Version string empty"},
    {"semver('01.2.3') == semver('1.2.3')", "Major number must not contain leading zeroes \"01\""},
    {"semver('1.x.3') == semver('1.2.3')", "Invalid character(s) found in minor number \"x\""},
    {"semver('1.2.3-') == semver('1.2.3')", "Prerelease is empty"},
    {"semver('1.2.3-01') == semver('1.2.3')",
     "Numeric PreRelease version must not contain leading zeroes \"01\""},
    {"semver('1.2.3+') == semver('1.2.3')", "Build meta data is empty"},
    {"semver('1.2.3-a_b') == semver('1.2.3')", "Invalid character(s) found in prerelease \"a_b\""},
    {"semver('1.2.3+a_b') == semver('1.2.3')",
     "Invalid character(s) found in build meta data \"a_b\""},
    {"semver('1..3') == semver('1.2.3')", "strconv.ParseUint: parsing \"\": invalid syntax"},
    {"semver('99999999999999999999.0.0') == semver('1.2.3')",
     "strconv.ParseUint: parsing \"99999999999999999999\": value out of range"},
    {"semver('v1.2', true) == semver('1.2.0')"},
    {"semver('v01.002.3', true) == semver('1.2.3')"},
    {"semver('1-rc', true) == semver('1.0.0')",
     "short version cannot contain PreRelease/Build meta data"},
    {"semver('v1.2.3-rc', true) == semver('1.2.3-rc')"},
    {"semver('', true) == semver('0.0.0')", "strconv.ParseUint: parsing \"\": invalid syntax"},
    {"semver('00', true) == semver('0.0.0')"},
    {"semver('v', true) == semver('0.0.0')", "strconv.ParseUint: parsing \"\": invalid syntax"},
    {"semver('1.2.3.4', true) == semver('1.2.3')",
     "Invalid character(s) found in patch number \"3.4\""},
    {"isSemver('1.2.3') && !isSemver('v1.2.3') && isSemver('v1.2.3', true)"},
    {"url('https://user@example.com:80/a%20b?x=1&y=2&x=3').getHost() == 'example.com:80'"},
    {"url('https://example.com:80/a%20b').getHostname() == 'example.com'"},
    {"url('https://example.com:80/a%20b').getPort() == '80'"},
    {"url('https://example.com:80/a%20b').getEscapedPath() == '/a%20b'"},
    {"url('HTTPS://example.com').getScheme() == 'https'"},
    {"url('/?x=1&y=a+b&x=3').getQuery() == {'x': ['1', '3'], 'y': ['a b']}"},
    {"url('abc') == url('/')",
     "URL parse error during conversion from string: parse \"abc\": invalid URI for request"},
    {"url('') == url('/')", "URL parse error during conversion from string: parse \"\": empty url"},
    {"isURL('/path') && !isURL('../x')"},
    {"ip('127.0.0.1').family() == 4 && ip('::1').family() == 6"},
    {"ip('1.2.3') == ip('::1')",
     "IP Address \"1.2.3\" parse error during conversion from string: ParseAddr(\"1.2.3\"): IPv4 "
     "address too short"},
    {"ip('::ffff:1.2.3.4') == ip('::1')",
     "IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed"},
    {"ip('fe80::1%eth0') == ip('::1')",
     "IP address \"fe80::1%eth0\" with zone value is not allowed"},
    {"isIP('2001:DB8::1') && !ip.isCanonical('2001:DB8::1') && ip.isCanonical('2001:db8::1')"},
    {"string(ip('2001:db8:0:0:1:0:0:1')) == '2001:db8::1:0:0:1'"},
    {"ip('10.0.0.1').isGlobalUnicast() && !ip('127.0.0.1').isGlobalUnicast()"},
    {"ip('224.0.0.1').isLinkLocalMulticast() && ip('fe80::1').isLinkLocalUnicast()"},
    {"ip('0.0.0.0').isUnspecified() && ip('::1').isLoopback()"},
    {"cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.1.2.3/8').ip() == "
     "ip('10.1.2.3')"},
    {"cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))"},
    {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && "
     "!cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')"},
    {"cidr('10.0.0.0/8').prefixLength() == 8 && string(cidr('10.1.2.3/8')) == '10.1.2.3/8'"},
    {"cidr('10.0.0.0/33') == cidr('10.0.0.0/8')",
     "network address parse error during conversion from string: network address parse error "
     "during conversion from string: netip.ParsePrefix(\"10.0.0.0/33\"): prefix length out of "
     "range"},
    {"isCIDR('::/0') && !isCIDR('1.2.3.4')"},
    {"cidr('10.0.0.0/8').containsIP('x')", "no such overload"},
    {"!format.dns1123Label().validate('my-name').hasValue()"},
    {"format.dns1123Label().validate('a.b').value() == ['must not contain dots']"},
    {"format.dns1123LabelPrefix().validate('my-').hasValue() == false"},
    {"format.uuid().validate('x').value() == ['does not match the UUID format']"},
    {"!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()"},
    {"!format.byte().validate('YWJj').hasValue() && format.byte().validate('YWJ').hasValue()"},
    {"!format.date().validate('2020-02-29').hasValue() && "
     "format.date().validate('2021-02-29').hasValue()"},
    {"!format.datetime().validate('2020-01-01T00:00:00Z').hasValue()"},
    {"format.uri().validate('a').value() == ['parse \"a\": invalid URI for request']"},
    {"format.qualifiedName().validate('a/').value().size() == 2"},
    {"!format.labelValue().validate('').hasValue()"},
    {"format.named('uri').value() == format.uri() && !format.named('nope').hasValue()"},
};

TEST(LibKubernetesTest, ValuesAndErrors) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    EXPECT_EQ(EvaluateOnSample(row.expression).text, row.wanted);
  }
}

}  // namespace
}  // namespace ks::cel
