//! What the parsers of k8s.io/apimachinery v0.37.0 say about odd selectors: `labels.Parse` and `fields.ParseSelector`.
//!
//! A selector that they accept is written as its requirements: key, operator, and the sorted values. In errors, long
//! sentences about names are cut to `<NAME>`, `<SUBDOMAIN>` and `<VALUE>`.

/// A selector, and its requirements or the error.
pub(super) type Case = (&'static str, Result<&'static str, &'static str>);

/// Label selectors.
pub(super) const LABELS: &[Case] = &[
    ("", Ok("")),
    (" ", Ok("")),
    ("app=web", Ok("app = [web]")),
    ("app=web,", Err("found '', expected: identifier after ','")),
    (
        ",app=web",
        Err("found ',', expected: !, identifier, or 'end of string'"),
    ),
    (
        "app=web,,tier=x",
        Err("found ',', expected: identifier after ','"),
    ),
    (
        ",",
        Err("found ',', expected: !, identifier, or 'end of string'"),
    ),
    ("app==web", Ok("app == [web]")),
    (
        "app===web",
        Err("unable to parse requirement: found '=', expected: identifier"),
    ),
    ("app!=web", Ok("app != [web]")),
    (
        "app!==web",
        Err("unable to parse requirement: found '=', expected: identifier"),
    ),
    (
        "app=!web",
        Err("unable to parse requirement: found '!', expected: identifier"),
    ),
    ("app = web ", Ok("app = [web]")),
    (
        "app=web tier=x",
        Err("found 'tier', expected: ',' or 'end of string'"),
    ),
    ("app", Ok("app exists []")),
    ("!app", Ok("app ! []")),
    ("! app", Ok("app ! []")),
    (
        "!!app",
        Err("unable to parse requirement: found '!', expected: identifier"),
    ),
    (
        "!app=web",
        Err("found '=', expected: ',' or 'end of string'"),
    ),
    (
        "app!",
        Err("unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    (
        "!",
        Err("unable to parse requirement: found '', expected: identifier"),
    ),
    (
        "=web",
        Err("found '=', expected: !, identifier, or 'end of string'"),
    ),
    ("app=", Ok("app = []")),
    ("app==", Ok("app == []")),
    ("app!=", Ok("app != []")),
    ("app=,tier=", Ok("app = []; tier = []")),
    ("app in (a,b)", Ok("app in [a|b]")),
    ("app in (b, a ,a)", Ok("app in [a|b]")),
    ("app in ()", Ok("app in []")),
    ("app in (,)", Ok("app in []")),
    ("app in (,a)", Ok("app in [|a]")),
    ("app in (a,)", Ok("app in [|a]")),
    ("app in (a,,b)", Ok("app in [|a|b]")),
    ("app in (,,)", Ok("app in []")),
    (
        "app in (a b)",
        Err("unable to parse requirement: found 'b', expected: ',' or ')'"),
    ),
    (
        "app in (a",
        Err("unable to parse requirement: found '', expected: ',' or ')'"),
    ),
    (
        "app in (a,",
        Err("unable to parse requirement: found '', expected: ',', or identifier"),
    ),
    (
        "app in (",
        Err("unable to parse requirement: found '', expected: ',', ')' or identifier"),
    ),
    (
        "app in",
        Err("unable to parse requirement: found '' expected: '('"),
    ),
    (
        "app in a",
        Err("unable to parse requirement: found 'a' expected: '('"),
    ),
    ("app in(a)", Ok("app in [a]")),
    (
        "appin (a)",
        Err("unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    ("app notin (a)", Ok("app notin [a]")),
    ("app notin ()", Ok("app notin []")),
    (
        "app not in (a)",
        Err("unable to parse requirement: found 'not', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    (
        "app IN (a)",
        Err("unable to parse requirement: found 'IN', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    (
        "app in (a))",
        Err("found ')', expected: ',' or 'end of string'"),
    ),
    (
        "app in ((a))",
        Err("unable to parse requirement: found '(', expected: ',', ')' or identifier"),
    ),
    (
        "app in (a)(b)",
        Err("found '(', expected: ',' or 'end of string'"),
    ),
    (
        "app in (a),tier notin (b),!x,y",
        Ok("app in [a]; tier notin [b]; x ! []; y exists []"),
    ),
    ("in in (in)", Ok("in in [in]")),
    ("notin notin (notin)", Ok("notin notin [notin]")),
    ("in", Ok("in exists []")),
    ("notin", Ok("notin exists []")),
    ("in=in", Ok("in = [in]")),
    ("!in", Ok("in ! []")),
    ("x>5", Ok("x gt [5]")),
    ("x<5", Ok("x lt [5]")),
    ("x > 5", Ok("x gt [5]")),
    (
        "x>",
        Err(
            "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ),
    (
        "x>a",
        Err(
            "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ),
    (
        "x>5.5",
        Err(
            "unable to parse requirement: values[0]: Invalid value: \"5.5\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ),
    (
        "x>-5",
        Err("unable to parse requirement: values[0][x]: Invalid value: \"-5\": <VALUE>"),
    ),
    (
        "x>=5",
        Err("unable to parse requirement: found '=', expected: identifier"),
    ),
    (
        "x<>5",
        Err("unable to parse requirement: found '>', expected: identifier"),
    ),
    ("x>005", Ok("x gt [005]")),
    (
        "x>99999999999999999999",
        Err(
            "unable to parse requirement: values[0]: Invalid value: \"99999999999999999999\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ),
    (
        "x gt 5",
        Err("unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    (
        "x lt 5",
        Err("unable to parse requirement: found 'lt', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    ("x in (in,notin)", Ok("x in [in|notin]")),
    ("example.com/app=web", Ok("example.com/app = [web]")),
    (
        "Example.com/app=web",
        Err(
            "unable to parse requirement: <nil>: Invalid value: \"Example.com/app\": prefix part <SUBDOMAIN>",
        ),
    ),
    (
        "/app=web",
        Err(
            "unable to parse requirement: <nil>: Invalid value: \"/app\": prefix part must be non-empty",
        ),
    ),
    (
        "example.com/=web",
        Err(
            "unable to parse requirement: <nil>: Invalid value: \"example.com/\": name part must be non-empty; name part <NAME>",
        ),
    ),
    (
        "a/b/c=web",
        Err(
            "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key <NAME> with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        ),
    ),
    (
        "-app=web",
        Err("unable to parse requirement: <nil>: Invalid value: \"-app\": name part <NAME>"),
    ),
    (
        "app-=web",
        Err("unable to parse requirement: <nil>: Invalid value: \"app-\": name part <NAME>"),
    ),
    (
        "a b=web",
        Err("unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
    ),
    ("a_b.c-d=web", Ok("a_b.c-d = [web]")),
    (
        "app=-web",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"-web\": <VALUE>"),
    ),
    (
        "app=web-",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"web-\": <VALUE>"),
    ),
    (
        "app=we/b",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"we/b\": <VALUE>"),
    ),
    (
        "app=we b",
        Err("found 'b', expected: ',' or 'end of string'"),
    ),
    ("app=a.b_c-D", Ok("app = [a.b_c-D]")),
    (
        "app='web'",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"'web'\": <VALUE>"),
    ),
    (
        "app=\"web\"",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"\\\"web\\\"\": <VALUE>"),
    ),
    (
        "app=web;tier=x",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"web;tier\": <VALUE>"),
    ),
    (
        "é=1",
        Err("unable to parse requirement: <nil>: Invalid value: \"é\": name part <NAME>"),
    ),
    (
        "app=é",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"é\": <VALUE>"),
    ),
    (
        "app =web",
        Err("unable to parse requirement: <nil>: Invalid value: \"app\\u{a0}\": name part <NAME>"),
    ),
    ("app\t=\tweb", Ok("app = [web]")),
    ("app\n=web", Ok("app = [web]")),
    ("app=web,app=api", Ok("app = [web]; app = [api]")),
    ("app=web,app=web", Ok("app = [web]; app = [web]")),
    ("app,!app", Ok("app exists []; app ! []")),
    (
        "(a",
        Err("found '(', expected: !, identifier, or 'end of string'"),
    ),
    (
        ")",
        Err("found ')', expected: !, identifier, or 'end of string'"),
    ),
    (
        "()",
        Err("found '(', expected: !, identifier, or 'end of string'"),
    ),
    (
        "(app=web)",
        Err("found '(', expected: !, identifier, or 'end of string'"),
    ),
    (
        "app~web",
        Err("unable to parse requirement: <nil>: Invalid value: \"app~web\": name part <NAME>"),
    ),
    (
        "app in (web-)",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"web-\": <VALUE>"),
    ),
    (
        "app=web,!",
        Err("unable to parse requirement: found '', expected: identifier"),
    ),
    (
        "app=web, ,x",
        Err("found ',', expected: identifier after ','"),
    ),
    (
        "*",
        Err("unable to parse requirement: <nil>: Invalid value: \"*\": name part <NAME>"),
    ),
    (
        "app=*",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"*\": <VALUE>"),
    ),
    (
        "app:web",
        Err("unable to parse requirement: <nil>: Invalid value: \"app:web\": name part <NAME>"),
    ),
    (
        "@app=web",
        Err("unable to parse requirement: <nil>: Invalid value: \"@app\": name part <NAME>"),
    ),
    (
        "app=web&x=y",
        Err("unable to parse requirement: values[0][app]: Invalid value: \"web&x\": <VALUE>"),
    ),
];

/// Field selectors.
pub(super) const FIELDS: &[Case] = &[
    ("", Ok("")),
    (" ", Err("invalid selector: ' '; can't understand ' '")),
    ("metadata.name=web", Ok("metadata.name = [web]")),
    ("metadata.name==web", Ok("metadata.name = [web]")),
    ("metadata.name!=web", Ok("metadata.name != [web]")),
    (
        "metadata.name===web",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    ("metadata.name=web,", Ok("metadata.name = [web]")),
    (",metadata.name=web", Ok("metadata.name = [web]")),
    ("a=1,,b=2", Ok("a = [1]; b = [2]")),
    (",", Ok("")),
    ("a", Err("invalid selector: 'a'; can't understand 'a'")),
    (
        "a,b=1",
        Err("invalid selector: 'a,b=1'; can't understand 'a'"),
    ),
    (
        "a=b=c",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    (
        "a!=b=c",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    (
        "a!==b",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    ("a=!b", Ok("a = [!b]")),
    ("!a=b", Ok("!a = [b]")),
    ("! =", Ok("!  = []")),
    ("a! =b", Ok("a!  = [b]")),
    ("a! = b", Ok("a!  = [ b]")),
    (" a = b ", Ok(" a  = [ b ]")),
    ("a =b", Ok("a  = [b]")),
    ("=", Ok("")),
    ("!=", Ok("")),
    ("==", Ok("")),
    ("=b", Ok(" = [b]")),
    ("!=b", Ok(" != [b]")),
    ("a=", Ok("a = []")),
    ("a!=", Ok("a != []")),
    ("a==", Ok("a = []")),
    ("a=\\,", Ok("a = [,]")),
    ("a=\\=", Ok("a = [=]")),
    ("a=\\\\", Ok("a = [\\]")),
    (
        "a=\\x",
        Err("invalid field selector: invalid escape sequence: \\x"),
    ),
    (
        "a=b\\",
        Err("invalid field selector: invalid escape sequence: \\"),
    ),
    (
        "a=b\\,c=d",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    ("a\\,b=c", Ok("a\\,b = [c]")),
    (
        "a\\=b=c",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    ("b=2,a=1", Ok("a = [1]; b = [2]")),
    ("a=1,a=2", Ok("a = [1]; a = [2]")),
    ("a=1,a=1", Ok("a = [1]; a = [1]")),
    (
        "a>1",
        Err("invalid selector: 'a>1'; can't understand 'a>1'"),
    ),
    (
        "a in (b)",
        Err("invalid selector: 'a in (b)'; can't understand 'a in (b)'"),
    ),
    (
        "status.phase!=Running,spec.nodeName=n1",
        Ok("spec.nodeName = [n1]; status.phase != [Running]"),
    ),
    ("a=b c", Ok("a = [b c]")),
    ("é=ü", Ok("é = [ü]")),
    ("a=1, b=2", Ok(" b = [2]; a = [1]")),
    (
        "a==b==c",
        Err("invalid field selector: unescaped character in value: 61"),
    ),
    ("a=b\\\\,c=d", Ok("a = [b\\]; c = [d]")),
    ("a=1,\\,b=2", Ok("\\,b = [2]; a = [1]")),
    ("\\=a", Ok("\\ = [a]")),
];
