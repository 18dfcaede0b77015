/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "ffdpCommandError.h"
#include "ffdpPointFiles.h"
#include "ffdpTransformFiles.h"
#include "ffdpTransformTestSupport.h"

#include "itk_H5Cpp.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <sys/stat.h>

using namespace programtest;

/** Files of transforms and of points that are cut off, damaged or made to do harm: the program says so in one line that
 * names the file, and writes nothing. */
namespace
{

const std::string Points = "x,y,z,t,label,comment\n10,20,30,0,1,a\n-4,5.5,6,0,2,b\n";

void
WriteBytes(const std::string & bytes, const std::string & file)
{
  std::ofstream(file, std::ios::binary) << bytes;
}

/** Within ten seconds. */
Outcome
RunShortly(const Folder & folder, const std::string & arguments)
{
  const std::string command = "ulimit -c 0; timeout 10 " + std::string(FFDP_PROGRAM) + " " + arguments + " >" +
                              (folder / "stdout") + " 2>" + (folder / "stderr");
  const int status = std::system(command.c_str());
  return { WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadText(folder / "stdout"), ReadText(folder / "stderr") };
}

/** A code of 1, nothing written, and one line with the name of the file and a reason. */
void
ExpectRefused(const Folder &      folder,
              const std::string & arguments,
              const std::string & file,
              const std::string & reason)
{
  const Outcome outcome = RunShortly(folder, arguments + " -o " + (folder / "out.csv"));
  EXPECT_EQ(outcome.code, 1) << arguments << "\n" << outcome.errors;
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  EXPECT_NE(outcome.errors.find(file), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find(reason), std::string::npos) << outcome.errors;
  EXPECT_FALSE(fs::exists(folder / "out.csv")) << arguments;
}

/** The same for a file of transforms with these bytes. */
void
ExpectNoTransform(const Folder &      folder,
                  const std::string & name,
                  const std::string & bytes,
                  const std::string & reason)
{
  WriteBytes(bytes, folder / name);
  WriteBytes(Points, folder / "points.csv");
  ExpectRefused(folder, "apply -i " + (folder / "points.csv") + " -t " + (folder / name), name, reason);
}

/** A text file with one transform. */
std::string
TextOf(const std::string & type, const std::string & parameters, const std::string & fixed)
{
  return "#Insight Transform File V1.0\n#Transform 0\nTransform: " + type + "\nParameters: " + parameters +
         "\nFixedParameters: " + fixed + "\n";
}

/** An affine transform about a center, as ITK writes it. */
std::string
AffineBytes(const Folder & folder, const std::string & ending)
{
  const auto   affine = MakeAffine(0.3);
  const double center[3] = { 10, 20, 30 };
  affine->SetCenter(Point(center));
  WriteTransform(affine, folder / ("affine" + ending));
  return ReadText(folder / ("affine" + ending));
}

void
ExpectThrows(const std::string & bytes, const std::string & file, std::size_t at)
{
  WriteBytes(bytes, file);
  try
  {
    ReadTransforms({ file });
    ADD_FAILURE() << file << " is taken, cut at " << at;
  }
  catch (const CommandError & error)
  {
    EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
  }
}

/** A file with a translation in /TransformGroup/0, made piece by piece. */
struct Hdf5File
{
  std::string name;
  H5::H5File  file;

  explicit Hdf5File(const std::string & path)
    : name(path)
    , file(path, H5F_ACC_TRUNC)
  {
    file.createGroup("/TransformGroup");
    file.createGroup("/TransformGroup/0");
  }

  void
  Type(const std::string & type = "TranslationTransform_double_3_3", const std::string & group = "0")
  {
    const H5::StrType text(H5::PredType::C_S1, H5T_VARIABLE);
    const hsize_t     one = 1;
    file.createDataSet("/TransformGroup/" + group + "/TransformType", text, H5::DataSpace(1, &one)).write(type, text);
  }

  void
  Numbers(const std::string & path, hsize_t count, const H5::DSetCreatPropList & properties = {}, bool written = true)
  {
    const std::vector<double> values(count, 1.0);
    const H5::DataSet         set =
      file.createDataSet("/TransformGroup/" + path, H5::PredType::NATIVE_DOUBLE, H5::DataSpace(1, &count), properties);
    if (written && count > 0)
    {
      set.write(values.data(), H5::PredType::NATIVE_DOUBLE);
    }
  }
};

} // namespace

TEST(DamagedTransforms, NoCutIsTaken)
{
  const Folder folder("cuts");
  for (const std::string ending : { ".txt", ".tfm", ".mat" })
  {
    const std::string bytes = AffineBytes(folder, ending);
    for (std::size_t at = 0; at < bytes.size(); ++at)
    {
      ExpectThrows(bytes.substr(0, at), folder / ("cut" + ending), at);
    }
  }
  const std::string bytes = AffineBytes(folder, ".h5");
  for (std::size_t at = 0; at < bytes.size(); at += 251)
  {
    ExpectThrows(bytes.substr(0, at), folder / "cut.h5", at);
  }
}

TEST(DamagedTransforms, CutsAreToldWithTheirPlace)
{
  const Folder      folder("cut-places");
  const std::string text = AffineBytes(folder, ".txt"), matlab = AffineBytes(folder, ".mat");
  ExpectNoTransform(folder, "cut.txt", text.substr(0, text.find("Fixed") - 20), "line 4: there is no line break");
  ExpectNoTransform(folder,
                    "no-center.txt",
                    text.substr(0, text.find("Fixed")),
                    "line 3: AffineTransform_double_3_3 has no line 'Fixed");
  ExpectNoTransform(folder, "center.mat", matlab.substr(0, 160), "byte 143: the file ends within a header");
  ExpectNoTransform(folder, "half.mat", matlab.substr(0, 143), "byte 0: 'AffineTransform_double_3_3' has no fixed");
  ExpectNoTransform(folder, "more.mat", matlab + "123", "byte 193: the file ends within a header");
  ExpectNoTransform(folder, "empty.txt", "", "holds no transform");
  ExpectNoTransform(folder, "empty.mat", "", "holds no transform");
  ExpectNoTransform(folder, "empty.h5", "", "no HDF5 file");
  ExpectNoTransform(folder, "two.txt", text + "#Transform 1\n", "announces 2 transforms and holds 1");
}

TEST(DamagedTransforms, NumbersAreCountedBeforeTheyAreUsed)
{
  const Folder      folder("counts");
  const std::string huge = "100000 100000 100000 0 0 0 1 1 1 1 0 0 0 1 0 0 0 1";
  const std::string wraps = "2097152 2097152 4194304 0 0 0 1 1 1 1 0 0 0 1 0 0 0 1"; // 2^64 points
  const std::string flat = "1 1 1 0 0 0 1 1 1 1 0 0 1 0 0 0 0 1", still = "1 1 1 0 0 0 1 0 1 1 0 0 0 1 0 0 0 1";
  const std::string tiny = "1 1 1 0 0 0 1 1 1 1 0 2e-310 0 1 0 0 0 1"; // vnl_svd prints pages about it
  const std::string half = "0.5 1 1 0 0 0 1 1 1 1 0 0 0 1 0 0 0 1";
  const struct
  {
    std::string type, parameters, fixed, reason;
  } cases[] = {
    { "ScaleTransform_double_3_3", "1", "0 0 0", "line 4: ScaleTransform_double_3_3 needs 3 parameters, there are 1" },
    { "TranslationTransform_double_3_3", "5", "", "needs 3 parameters, there are 1" },
    { "Euler3DTransform_double_3_3", "1", "0 0 0", "needs 6 parameters, there are 1" },
    { "Euler3DTransform_double_3_3", "1 1 1 1 1 1", "0 0", "line 5: Euler3DTransform_double_3_3 needs 4 fixed" },
    { "AffineTransform_double_3_3", "1 0 0 0 1 0 0 0 1 0 0 0 0", "0 0 0", "needs 12 parameters, there are 13" },
    { "BSplineTransform_double_3_3", "1 0 0", huge, "100000 x 100000 x 100000 points" },
    { "DisplacementFieldTransform_double_3_3", "1 0 0", huge, "100000 x 100000 x 100000 points" },
    { "DisplacementFieldTransform_double_3_3", "", wraps, "2097152 x 2097152 x 4194304 points" },
    { "DisplacementFieldTransform_double_3_3", "1 0 0", flat, "axes in one plane" },
    { "DisplacementFieldTransform_double_3_3", "1 0 0", still, "with a spacing that is not positive" },
    { "DisplacementFieldTransform_double_3_3", "1 0 0", tiny, "numbers beyond all sizes" },
    { "DisplacementFieldTransform_double_3_3", "1 0 0", half, "no possible size" },
    { "BSplineTransform_double_3_3", "1 0 0", "1 1 1 0 0 0 1 1 1 1 0 0 0 1 0 0 0 1", "no possible size" },
    { "ConstantVelocityFieldTransform_double_3_3", "1 0 0", flat, "a field of velocities" },
    { "CompositeTransform_double_3_3", "", "", "line 3: the composite has no parts" },
    { "AffineTransform_double_4_4", "1", "0", "not one of two or three dimensions" },
    { "Foo", "1 0 0", "0 0 0", "line 3: 'Foo' is no type of transform that is known here" },
    { "Foo_double_3_3", "1 0 0", "0 0 0", "no type of transform" },
    { "itkImageIOBase_double_3_3", "1 0 0", "0 0 0", "no type of transform" },
    { "TranslationTransform_double_3_3", "1 inf 0", "", "line 4: 'inf' is not a finite number" },
    { "TranslationTransform_double_3_3", "1 1e999 0", "", "'1e999' is not a finite number" },
    { "TranslationTransform_double_3_3", "1 2,5 0", "", "'2,5' is not a finite number" },
  };
  for (const auto & c : cases)
  {
    ExpectNoTransform(folder, "t.txt", TextOf(c.type, c.parameters, c.fixed), c.reason);
  }
}

TEST(DamagedTransforms, LinesThatAreNotOfTheFormat)
{
  const Folder      folder("lines");
  const std::string good = TextOf("TranslationTransform_double_3_3", "1 2 3", "");
  ExpectNoTransform(folder, "t.txt", "Parameters: 1 2 3\n" + good, "line 1: there is no line 'Transform:'");
  ExpectNoTransform(folder, "t.txt", good + "Parameters: 1 2 3\n", "line 6: the transform has such a line already");
  ExpectNoTransform(folder, "t.txt", good + "Foo: 1 2 3\n", "line 6: not of the form");
  ExpectNoTransform(folder, "t.txt", good + "CompositeTransform\n", "line 6: not of the form");
  ExpectNoTransform(folder, "t.txt", good + std::string(3, '\0') + "\n", "line 6: it holds a NUL");
  ExpectNoTransform(
    folder, "t.txt", good + "Transform: CompositeTransform_double_3_3\n", "line 6: a composite can only");
  ExpectNoTransform(folder,
                    "t.txt",
                    good + TextOf("TranslationTransform_double_2_2", "1 2", ""),
                    "line 8: here are transforms of two and of three dimensions");
  ExpectNoTransform(folder,
                    "t.txt",
                    "Transform: CompositeTransform_double_3_3\nComponentTransformFile: /etc/passwd\n",
                    "line 2: parts of a composite in files of their own");
  ExpectNoTransform(folder, "t.xfm", "MNI Transform File\n", "MINC");
}

TEST(DamagedTransforms, BlocksOfMatlabThatAreNotThere)
{
  const Folder      folder("matlab");
  const std::string good = AffineBytes(folder, ".mat");
  const auto        with = [&](std::size_t at, std::uint32_t word) {
    std::string bytes = good;
    std::memcpy(&bytes[at], &word, sizeof(word));
    return bytes;
  };
  ExpectNoTransform(folder, "t.mat", with(16, 0xFFFFFFFF), "byte 0: a name of 4294967295 characters");
  ExpectNoTransform(folder, "t.mat", with(16, 0), "byte 0: a name of 0 characters");
  ExpectNoTransform(folder, "t.mat", with(4, 0xFFFFFFFF), "byte 0: there are 18 values of 4294967295");
  ExpectNoTransform(folder, "t.mat", with(4, 11), "byte 135: ");
  ExpectNoTransform(folder, "t.mat", with(8, 2), "byte 0: this is not a vector");
  ExpectNoTransform(folder, "t.mat", with(12, 1), "byte 0: this is not a vector");
  ExpectNoTransform(folder, "t.mat", with(0, 20), "byte 0: this is no vector of floats or doubles");
  // the other byte order is read
  std::string swapped = good;
  const auto  reverse = [&](std::size_t at, std::size_t count, std::size_t size) {
    for (std::size_t i = 0; i < count; ++i)
    {
      std::reverse(swapped.begin() + long(at + i * size), swapped.begin() + long(at + (i + 1) * size));
    }
  };
  swapped[0] = swapped[143] = char(1000 & 0xFF);
  swapped[1] = swapped[144] = char(1000 >> 8);
  reverse(0, 5, 4);
  reverse(47, 12, 8);
  reverse(143, 5, 4);
  reverse(169, 3, 8);
  WriteBytes(swapped, folder / "swapped.mat");
  const double from[3] = { 1, 2, 3 };
  EXPECT_EQ(ReadTransforms({ folder / "swapped.mat" }).transform->TransformPoint(Point(from)),
            ReadTransforms({ folder / "affine.mat" }).transform->TransformPoint(Point(from)));
}

TEST(DamagedTransforms, Hdf5ThatLacksSomething)
{
  const Folder folder("hdf5-lacks");
  WriteBytes(Points, folder / "points.csv");
  const auto expect = [&](const std::string & reason, const std::function<void(Hdf5File &)> & make) {
    {
      Hdf5File made(folder / "t.h5");
      make(made);
    }
    ExpectRefused(folder, "apply -i " + (folder / "points.csv") + " -t " + (folder / "t.h5"), "t.h5", reason);
  };
  H5::DSetCreatPropList chunked;
  const hsize_t         chunk = 2;
  chunked.setChunk(1, &chunk);
  H5::DSetCreatPropList elsewhere;
  elsewhere.setExternal((folder / "points.csv").c_str(), 0, 24);
  expect("/TransformGroup/0: there is no TransformType", [](Hdf5File &) {});
  expect("/TransformGroup/0: there are no TransformFixedParameters", [](Hdf5File & f) { f.Type(); });
  expect("/TransformGroup/0: there are no TransformParameters", [](Hdf5File & f) {
    f.Type();
    f.Numbers("0/TransformFixedParameters", 0);
  });
  expect("needs 3 parameters, there are 2", [](Hdf5File & f) {
    f.Type();
    f.Numbers("0/TransformFixedParameters", 0);
    f.Numbers("0/TransformParameters", 2);
  });
  for (const H5::DSetCreatPropList & properties : { H5::DSetCreatPropList(), chunked, elsewhere })
  {
    expect("not all of these numbers are in the file", [&](Hdf5File & f) {
      f.Type();
      f.Numbers("0/TransformFixedParameters", 0);
      f.Numbers("0/TransformParameters", 3, properties, false);
    });
  }
  expect("this is a link to another place", [&](Hdf5File & f) {
    f.Type();
    f.Numbers("0/TransformFixedParameters", 0);
    H5Lcreate_external((folder / "fifo").c_str(),
                       "/x",
                       f.file.getId(),
                       "/TransformGroup/0/TransformParameters",
                       H5P_DEFAULT,
                       H5P_DEFAULT);
  });
  expect("there are 1 groups, but none of them is 0",
         [](Hdf5File & f) { f.file.move("/TransformGroup/0", "/TransformGroup/1"); });
  expect("the composite has no parts", [](Hdf5File & f) { f.Type("CompositeTransform_double_3_3"); });
  expect("it has no /TransformGroup", [](Hdf5File & f) { f.file.unlink("/TransformGroup"); });
}

TEST(DamagedTransforms, Hdf5OfOtherPrograms)
{
  const Folder folder("hdf5-other");
  {
    Hdf5File          made(folder / "old.h5"); // before 5.0 ITK wrote these names
    const H5::StrType text(H5::PredType::C_S1, 40);
    made.file.createDataSet("/TransformGroup/0/TransformType", text, H5::DataSpace())
      .write(std::string("TranslationTransform_double_3_3"), text);
    made.Numbers("0/TranformFixedParameters", 0);
    made.Numbers("0/TranformParameters", 3);
  }
  const double from[3] = { 1, 2, 3 }, to[3] = { 2, 3, 4 };
  EXPECT_EQ(ReadTransforms({ folder / "old.h5" }).transform->TransformPoint(Point(from)), Point(to));
}

TEST(DamagedTransforms, MutatedFilesNeverCrashTheProgram)
{
  const Folder folder("mutations");
  WriteBytes(Points, folder / "points.csv");
  std::mt19937 random(7);
  for (const std::string ending : { ".h5", ".mat", ".txt" })
  {
    const std::string good = AffineBytes(folder, ending), file = folder / ("mutated" + ending);
    for (int i = 0; i < (ending == ".h5" ? 40 : 12); ++i)
    {
      std::string       bytes = good;
      const std::size_t at = random() % std::min<std::size_t>(bytes.size(), 5000);
      switch (i % 4)
      {
        case 0:
          bytes[at] = char(bytes[at] ^ (1 << random() % 8));
          break;
        case 1:
          bytes.insert(at, 1 + random() % 8, char(random()));
          break;
        case 2:
          bytes.erase(at, 1 + random() % 8);
          break;
        default:
          std::fill_n(bytes.begin() + long(at), std::min<std::size_t>(8, bytes.size() - at), char(0xFF));
      }
      WriteBytes(bytes, file);
      const Outcome outcome =
        RunShortly(folder, "apply -i " + (folder / "points.csv") + " -t " + file + " -o " + (folder / "out.csv"));
      EXPECT_TRUE(outcome.code == 0 || outcome.code == 1) << ending << " " << i << " " << outcome.code;
      EXPECT_EQ(outcome.ErrorLines(), outcome.code) << outcome.errors;
      EXPECT_EQ(outcome.errors.find(file) != std::string::npos, outcome.code == 1) << outcome.errors;
    }
  }
}

TEST(DamagedTransforms, PipesAreNotWaitedFor)
{
  const Folder folder("pipes");
  WriteBytes(Points, folder / "points.csv");
  WriteBytes(TextOf("TranslationTransform_double_3_3", "1 2 3", ""), folder / "good.txt");
  for (const std::string name : { "p.mat", "p.txt", "p.tfm", "p.h5" })
  {
    ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0);
    ExpectRefused(
      folder, "apply -i " + (folder / "points.csv") + " -t " + (folder / name), name, "only regular files are read");
  }
  ASSERT_EQ(mkfifo((folder / "p.csv").c_str(), 0600), 0);
  ExpectRefused(
    folder, "apply -i " + (folder / "p.csv") + " -t " + (folder / "good.txt"), "p.csv", "only regular files are read");
}

TEST(DamagedTransforms, AnHdf5FileThatCannotBeWrittenIsOneLine)
{
  const Folder folder("hdf5-limits");
  WriteBytes(TextOf("TranslationTransform_double_3_3", "1 2 3", ""), folder / "good.txt");
  Write(MakeField(MakeImage(0, 0.1, 0), 3), folder / "u.nii.gz");
  fs::create_directories(folder / "to");
  for (const int blocks : { 4, 9, 16, 40, 100 })
  {
    const std::string run = "trap '' XFSZ; ulimit -c 0; ulimit -f " + std::to_string(blocks) + "; " + FFDP_PROGRAM +
                            " compose -t " + (folder / "u.nii.gz") + " " + (folder / "good.txt") + " -o " +
                            (folder / "to/o.h5") + " 2>" + (folder / "stderr");
    const int         status = std::system(run.c_str());
    const std::string errors = ReadText(folder / "stderr");
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << blocks << " " << status;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
    EXPECT_NE(errors.find("to/o.h5' cannot be written"), std::string::npos) << errors;
    EXPECT_TRUE(fs::is_empty(folder / "to"));
  }
}

TEST(DamagedTransforms, LinesOfPoints)
{
  const Folder folder("points");
  WriteBytes(TextOf("TranslationTransform_double_3_3", "1 2 3", ""), folder / "good.txt");
  const auto expect = [&](const std::string & text, const std::string & reason, const std::string & named = "p.csv") {
    WriteBytes(text, folder / "p.csv");
    ExpectRefused(folder, "apply -i " + (folder / "p.csv") + " -t " + (folder / "good.txt"), named, reason);
  };
  expect("x,y,z\n1,2,3\n4,5,6", "line 3: there is no line break at its end");
  expect("x,y,z\n1,2,3\n4,5\n", "line 3: it has 2 columns, and the first line has 3");
  expect("x,y,z\n1,2,3\n4,5,6,7\n", "line 3: it has 4 columns, and the first line has 3");
  expect("x,y,z,comment\n1,2,3,a\n4,5,6\n", "line 3: it has 3 columns");
  expect("1,2,3\n4,5,6,7\n", "line 2: it has 4 columns");
  expect("1o,2,3\n4,5,6\n", "line 1: not of the form x,y,z"); // no header: it holds numbers
  expect("label,w,y,z\n1,2,3,4\n", "line 1: of the columns x, y and z it names some");
  expect("x,y,z\n1,2,3\n4," + std::string(1, '\0') + ",6\n", "line 3: it holds a NUL");
  expect("x,y,z\n1,2,3\n4,inf,6\n", "line 3: not of the form x,y,z");
  expect("x,y,z\n1,2,3\n4,1e999,6\n", "line 3: not of the form x,y,z");
  expect("x,y,z\n1,2," + std::string(70000, '1') + "\n", "line 2: it has more than 65536 characters");
  WriteBytes(TextOf("ScaleTransform_double_3_3", "1e9 1 1", "0 0 0"), folder / "good.txt");
  expect("x,y,z\n1e308,1,2\n", "takes a point to where coordinates are no finite numbers", "good.txt");
}

TEST(DamagedTransforms, PointsOfSpreadsheets)
{
  const Folder folder("spreadsheets");
  WriteBytes("\xEF\xBB\xBFlabel,x,y,z\r\n\"a, b\",1,2,3\r\n", folder / "p.csv"); // as Excel writes UTF-8
  const PointTable table = ReadPoints(folder / "p.csv", "points");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].point, (std::array<double, 3>{ { 1, 2, 3 } }));
}
